// Generates a report for the open review. A report can be large, so its size so far is shown.
import { useCallback, useEffect, useRef, useState } from 'react'
import { TooLargeError } from '../../api/large-body.ts'
import { type Failure, describeFailure } from '../../api/failures.ts'
import { readReport } from './read-report.ts'
import { openReport } from './review-store.ts'

export type Reading =
  | { readonly state: 'idle' }
  | { readonly state: 'running'; readonly bytes: number }
  | { readonly state: 'tooLarge' }
  | { readonly state: 'failed'; readonly failure: Failure }

type ReportRead = { readonly reading: Reading; readonly start: () => void; readonly stop: () => void }

/** A change of the size is shown at most this often, because each change draws the page. */
const stepBytes = 250_000

export function useReport(scope: string, ownerId: string | undefined): ReportRead {
  const [reading, setReading] = useState<Reading>({ state: 'idle' })
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])
  const start = useCallback(async (): Promise<void> => {
    if (ownerId === undefined) return
    running.current?.abort()
    const { signal } = (running.current = new AbortController())
    let shown = 0
    setReading({ state: 'running', bytes: 0 })
    try {
      const report = await readReport(scope, {
        signal,
        onBytes: (bytes) => {
          if (bytes - shown < stepBytes) return
          shown = bytes
          setReading({ state: 'running', bytes })
        },
      })
      signal.throwIfAborted()
      openReport(scope, ownerId, report)
      setReading({ state: 'idle' })
    } catch (error) {
      if (signal.aborted) return
      setReading(
        error instanceof TooLargeError
          ? { state: 'tooLarge' }
          : { state: 'failed', failure: describeFailure(error) },
      )
    }
  }, [scope, ownerId])
  const stop = useCallback(() => {
    running.current?.abort()
    setReading({ state: 'idle' })
  }, [])
  return { reading, start: useCallback(() => void start(), [start]), stop }
}
