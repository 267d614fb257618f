// The current time as a value that changes every minute. In a hidden tab it stands still, because a new time can cause
// requests, such as for the last 24 hours.
import { useEffect, useState } from 'react'

/** Returns the time in milliseconds. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const update = (): void => {
      if (!document.hidden) setNow(Date.now())
    }
    const timer = setInterval(update, 60_000)
    document.addEventListener('visibilitychange', update)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', update)
    }
  }, [])
  return now
}
