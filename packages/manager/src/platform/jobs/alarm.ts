/** A timed wait that another caller can end early. */
export type Alarm = ReturnType<typeof createAlarm>

/** Resolves after `ms` milliseconds and cannot be ended early. */
export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** `ring` ends the current wait early. If no wait is pending, it ends the next one immediately. */
export function createAlarm() {
  let isRinging = false
  let wake: (() => void) | null = null
  return {
    ring: (): void => {
      isRinging = true
      wake?.()
    },
    wait: async (ms: number): Promise<void> => {
      if (!isRinging) {
        const deferred = Promise.withResolvers<void>()
        const timer = setTimeout(deferred.resolve, ms)
        wake = deferred.resolve
        await deferred.promise
        clearTimeout(timer)
        wake = null
      }
      isRinging = false
    },
  }
}
