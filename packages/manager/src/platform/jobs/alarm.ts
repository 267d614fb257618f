export type Alarm = ReturnType<typeof createAlarm>

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** A wait that can be ended early; a ring while nobody waits ends the next wait at once. */
export function createAlarm() {
  let isRung = false
  let wake: (() => void) | null = null
  return {
    ring: (): void => {
      isRung = true
      wake?.()
    },
    wait: async (ms: number): Promise<void> => {
      if (!isRung) {
        const waiting = Promise.withResolvers<void>()
        const timer = setTimeout(waiting.resolve, ms)
        wake = waiting.resolve
        await waiting.promise
        clearTimeout(timer)
        wake = null
      }
      isRung = false
    },
  }
}
