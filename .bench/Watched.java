import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** The JVM that the recorder watches while its cost is measured: idle threads, and two that allocate a little. */
public class Watched {
  static volatile Object sink;

  public static void main(String[] args) throws Exception {
    var timers = Executors.newScheduledThreadPool(2);
    timers.scheduleAtFixedRate(() -> sink = new byte[64 << 10], 0, 10, TimeUnit.MILLISECONDS);
    var forever = new CountDownLatch(1);
    for (int i = 0; i < Integer.parseInt(args[0]); i++) {
      Thread t = new Thread(() -> {
        try {
          forever.await();
        } catch (InterruptedException e) {
          // the end
        }
      }, "worker-" + i);
      t.setDaemon(true);
      t.start();
    }
    forever.await();
  }
}
