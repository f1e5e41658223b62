import java.time.Duration;
import java.util.*;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.*;

/**
 * Load on a Kafka broker with its own client: one JVM, one word an argument.
 * java KafkaLoad.java BOOTSTRAP produce:TOPIC:RATE:SIZE[:COUNT] consume:TOPIC:GROUP fail:TOPIC:GROUP slow:TOPIC:GROUP ...
 * fail never gets past its first batch: it goes back and reads it again. slow takes 1.5 ms for each message and fetches no more than it
 * needs. Prints a line a second.
 */
public class KafkaLoad {
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
                    topic(args[0], w[1]);
                    produce(args[0], "p" + i, w[1], Integer.parseInt(w[2]), Integer.parseInt(w[3]), count);
                    break;
                case "consume": case "fail": case "slow": endless = true; topic(args[0], w[1]); consume(args[0], w[1], w[2], w[0]); break;
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

    static Properties common(String server) {
        Properties p = new Properties();
        p.put("bootstrap.servers", server);
        return p;
    }

    static void topic(String server, String topic) throws Exception {
        try (Admin a = Admin.create(common(server))) {
            if (!a.listTopics().names().get().contains(topic)) {
                a.createTopics(List.of(new NewTopic(topic, 4, (short) 1))).all().get();
            }
        } catch (java.util.concurrent.ExecutionException e) {
            if (!(e.getCause() instanceof org.apache.kafka.common.errors.TopicExistsException)) throw e;
        }
    }

    static void produce(String server, String name, String topic, int rate, int size, long count) {
        Properties p = common(server);
        p.put("acks", "all");
        p.put("max.request.size", 16 << 20);
        p.put("buffer.memory", 64 << 20);
        Producer<byte[], byte[]> out = new KafkaProducer<>(p, new ByteArraySerializer(), new ByteArraySerializer());
        left.incrementAndGet();
        new Thread(() -> {
            byte[] body = new byte[size];
            new Random(1).nextBytes(body);
            long next = System.nanoTime();
            for (long n = 0; count == 0 || n < count; n++) {
                long t = System.nanoTime();
                out.send(new ProducerRecord<>(topic, body), (meta, e) -> {
                    worst.accumulateAndGet((System.nanoTime() - t) / 1_000_000, Math::max);
                    if (e == null) {
                        sent.incrementAndGet();
                    } else {
                        failed.incrementAndGet();
                        why = String.valueOf(e.getMessage()).split("\n")[0];
                    }
                });
                next = Math.max(next + 1_000_000_000L / rate, System.nanoTime() - 50_000_000L);
                LockSupport.parkNanos(next - System.nanoTime());
            }
            out.close();
            left.decrementAndGet();
        }, name).start();
    }

    static void consume(String server, String topic, String group, String how) {
        boolean fails = how.equals("fail"), slow = how.equals("slow");
        Properties p = common(server);
        p.put("group.id", group);
        p.put("auto.offset.reset", "earliest");
        p.put("enable.auto.commit", String.valueOf(!fails));
        if (slow) {
            p.put("max.poll.records", 10);
            p.put("max.partition.fetch.bytes", 1 << 20);
        }
        Consumer<byte[], byte[]> in = new KafkaConsumer<>(p, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        in.subscribe(List.of(topic));
        new Thread(() -> {
            while (true) {
                ConsumerRecords<byte[], byte[]> batch = in.poll(Duration.ofMillis(500));
                if (!fails) {
                    if (slow) LockSupport.parkNanos(1_500_000L * batch.count());
                    consumed.addAndGet(batch.count());
                    continue;
                }
                refused.addAndGet(batch.count());
                for (TopicPartition t : batch.partitions()) {
                    in.seek(t, batch.records(t).get(0).offset());
                }
                LockSupport.parkNanos(100_000_000L);
            }
        }, group).start();
    }
}
