package main

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// configureRocket lays out ROCKETMQ_HOME: broker and name server configuration,
// and their log layouts, from the jars where they ship there (5.x). A start reads the last three files of the commit log again, which with the usual
// 1 GiB would be all of it here.
func (b *broker) configureRocket() error {
	conf := "brokerClusterName = lab\nbrokerName = lab-a\nbrokerId = 0\nbrokerIP1 = 127.0.0.1\nlistenPort = 20911\nnamesrvAddr = " + nameServer +
		"\nstorePathRootDir = " + b.in("store") + "\nstorePathCommitLog = " + b.in("store", "commitlog") +
		"\nmappedFileSizeCommitLog = 134217728\nautoCreateTopicEnable = true\nmaxMessageSize = 8388608\ndeleteWhen = 04\nfileReservedTime = 48\nbrokerRole = ASYNC_MASTER\nflushDiskType = ASYNC_FLUSH\n"
	if err := b.write(conf, "conf", "broker.conf"); err != nil {
		return err
	}
	if err := b.write("listenPort = 19876\n", "conf", "namesrv.conf"); err != nil {
		return err
	}
	for _, part := range []string{"broker", "namesrv"} {
		jar := filepath.Join(b.jars, "rocketmq-"+part+"-"+b.version+".jar")
		shipped := "rmq." + part + ".logback.xml"
		if text, err := inside(jar, shipped); err == nil {
			if err := b.write(text, "conf", shipped); err != nil {
				return err
			}
			continue
		}
		ours := "logback_" + part + ".xml"
		text, err := os.ReadFile(filepath.Join(b.o.sources, "conf", ours))
		if err != nil {
			return err
		}
		if err := b.write(string(text), "conf", ours); err != nil {
			return err
		}
	}
	return nil
}

// inside reads a file of a jar.
func inside(jar, name string) (string, error) {
	z, err := zip.OpenReader(jar)
	if err != nil {
		return "", err
	}
	defer z.Close()
	f, err := z.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	return string(text), err
}

// java are the options of runserver.sh and runbroker.sh for JDK 9 and later, but for the sizes.
func (b *broker) rocketJava(part string, heap int) []string {
	sizes := []string{fmt.Sprintf("-Xms%dm", heap), fmt.Sprintf("-Xmx%dm", heap)}
	options := []string{
		"-server", "-XX:+UseG1GC", "-XX:G1HeapRegionSize=16m", "-XX:G1ReservePercent=25", "-XX:InitiatingHeapOccupancyPercent=30",
		"-XX:SoftRefLRUPolicyMSPerMB=0", "-Xlog:gc*:file=" + b.in("gc") + "/rmq_srv_gc_%p_%t.log:time,tags:filecount=5,filesize=30M",
		"-XX:-OmitStackTraceInFastThrow", "-XX:-UseLargePages", "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
		"--add-opens=java.base/java.nio=ALL-UNNAMED", "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED", "--add-opens=java.base/jdk.internal.ref=ALL-UNNAMED",
		"-Duser.home=" + b.in("home"), "-Drmq.logback.configurationFile=" + b.in("conf", "rmq."+part+".logback.xml"),
	}
	if part == "broker" {
		options = append(options, "-XX:+AlwaysPreTouch", "-XX:MaxDirectMemorySize=512m")
	}
	if heap < 256 { // regions of 16 MiB leave such a heap too few of them
		options[2] = "-XX:G1HeapRegionSize=4m"
	}
	return append(sizes, append(options, "-cp", b.in("conf")+":"+b.jars+"/*")...)
}

func (b *broker) startRocket(ctx context.Context) error {
	env := []string{"ROCKETMQ_HOME=" + b.folder}
	if len(b.helpers) == 0 {
		args := append(b.rocketJava("namesrv", 128), "org.apache.rocketmq.namesrv.NamesrvStartup", "-c", b.in("conf", "namesrv.conf"))
		c, err := start(b.in("namesrv.out"), b.folder, env, "java", args...)
		if err != nil {
			return err
		}
		b.helpers = append(b.helpers, c)
		if err := listening(ctx, c, nameServer, 30*time.Second); err != nil {
			return err
		}
	}
	args := append(b.rocketJava("broker", b.heap), "org.apache.rocketmq.broker.BrokerStartup", "-c", b.in("conf", "broker.conf"))
	return b.begin(ctx, b.in("broker.out"), rocketBroker, env, args)
}
