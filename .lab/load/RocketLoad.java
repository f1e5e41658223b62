import java.util.*;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.LockSupport;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.*;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;

/**
 * Load on a RocketMQ broker with its own client: one JVM, one word an argument.
 * java RocketLoad.java NAMESRV produce:TOPIC:RATE:SIZE[:COUNT] consume:TOPIC:GROUP fail:TOPIC:GROUP slow:TOPIC:GROUP ...
 * slow takes 3 ms for each message, in two threads, and fetches no more than it needs. With COUNT it ends after so many messages. Prints a line a second.
 */
public class RocketLoad {
    static final AtomicLong sent = new AtomicLong(), failed = new AtomicLong(), worst = new AtomicLong();
    static final AtomicLong consumed = new AtomicLong(), refused = new AtomicLong(), left = new AtomicLong();
    static volatile String why = "";

    public static void main(String[] args) throws Exception {
        boolean endless = false;
        for (int i = 1; i < args.length; i++) {
            String[] w = args[i].split(":");
            switch (w[0]) {
                case "produce":
                    long count = w.length > 4 ? Long.parseLong(w[4]) : 0;
                    endless |= count == 0;
                    produce(args[0], "p" + i, w[1], Integer.parseInt(w[2]), Integer.parseInt(w[3]), count);
                    break;
                case "consume": case "fail": case "slow": endless = true; consume(args[0], w[1], w[2], w[0]); break;
                default: throw new IllegalArgumentException(args[i]);
            }
        }
        while (endless || left.get() > 0) {
            Thread.sleep(1000);
            System.out.printf("sent %d failed %d worst_ms %d consumed %d refused %d %s%n", sent.getAndSet(0), failed.getAndSet(0),
                worst.getAndSet(0), consumed.getAndSet(0), refused.getAndSet(0), why);
            why = "";
        }
        System.exit(0);
    }

    static void produce(String server, String name, String topic, int rate, int size, long count) throws Exception {
        DefaultMQProducer p = new DefaultMQProducer("lab-" + name);
        p.setNamesrvAddr(server);
        p.setInstanceName(name);
        p.setRetryTimesWhenSendFailed(0);
        p.setMaxMessageSize(8 << 20);
        p.setCompressMsgBodyOverHowmuch(64 << 20);
        p.start();
        left.incrementAndGet();
        new Thread(() -> {
            byte[] body = new byte[size];
            new Random(1).nextBytes(body);
            long next = System.nanoTime();
            for (long n = 0; count == 0 || n < count; ) {
                long t = System.nanoTime();
                try {
                    p.send(new Message(topic, body));
                    sent.incrementAndGet();
                    n++;
                } catch (Exception e) {
                    failed.incrementAndGet();
                    why = String.valueOf(e.getMessage()).split("\n")[0];
                    LockSupport.parkNanos(100_000_000L);
                }
                worst.accumulateAndGet((System.nanoTime() - t) / 1_000_000, Math::max);
                next = Math.max(next + 1_000_000_000L / rate, System.nanoTime() - 50_000_000L);
                LockSupport.parkNanos(next - System.nanoTime());
            }
            left.decrementAndGet();
        }, name).start();
    }

    static void consume(String server, String topic, String group, String how) throws Exception {
        DefaultMQPushConsumer c = new DefaultMQPushConsumer(group);
        c.setNamesrvAddr(server);
        c.setInstanceName(group);
        c.setConsumeThreadMin(2);
        c.setConsumeThreadMax(2);
        c.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        if (how.equals("slow")) c.setPullThresholdSizeForQueue(1);
        c.subscribe(topic, "*");
        c.registerMessageListener((MessageListenerConcurrently) (msgs, context) -> {
            if (how.equals("fail")) {
                refused.addAndGet(msgs.size());
                return ConsumeConcurrentlyStatus.RECONSUME_LATER;
            }
            if (how.equals("slow")) LockSupport.parkNanos(3_000_000L * msgs.size());
            consumed.addAndGet(msgs.size());
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        c.start();
    }
}
