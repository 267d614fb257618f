/** A timed wait that another caller can cut short. */
export type Alarm = ReturnType<typeof createAlarm>

/** Resolves after `ms` milliseconds and cannot be cut short. */
export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** `ring` cuts the current wait short. If no wait is pending, the next one ends immediately. */
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
