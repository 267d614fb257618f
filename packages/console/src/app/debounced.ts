// Delays a value that changes with every key press, so that only the last value is sent.
import { useEffect, useState } from 'react'

/** Returns the value as soon as it has not changed for `ms` milliseconds. */
export function useDebounced<T>(value: T, ms = 200): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return settled
}
