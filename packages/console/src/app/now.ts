// The current time as a value that changes every minute.
import { useEffect, useState } from 'react'

/** Returns the time in milliseconds. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 60_000)
    return () => clearInterval(timer)
  }, [])
  return now
}
