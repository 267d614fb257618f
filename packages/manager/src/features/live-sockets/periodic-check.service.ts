import type { Logger } from '../../platform/log/log.ts'

/**
 * Runs the check periodically and never concurrently. A failed check closes no socket and is repeated at the
 * next interval.
 */
export function createPeriodicCheck(
  check: () => Promise<void>,
  { intervalMs, log }: { intervalMs: number; log: Logger },
) {
  let timer: NodeJS.Timeout | undefined
  let [isChecking, hasFailed] = [false, false]
  const run = async (): Promise<void> => {
    if (isChecking) return
    isChecking = true
    try {
      await check()
      hasFailed = false
    } catch (error) {
      if (!hasFailed) log.warn({ err: error }, 'cannot check websocket access; sockets stay open')
      hasFailed = true
    } finally {
      isChecking = false
    }
  }
  return {
    start: (): void => void (timer ??= setInterval(() => void run(), intervalMs).unref()),
    stop: (): void => clearInterval(timer),
  }
}
