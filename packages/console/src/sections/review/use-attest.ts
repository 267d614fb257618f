// Sends the attestations of a review, one after another.
import { sendForJson } from '@manager/client'
import { useRef, useState } from 'react'
import { connection } from '../../api/connection.ts'
import { reportError, reportSuccess } from '../../api/connection-state.ts'
import { type Failure, describeFailure } from '../../api/failures.ts'
import { type Coverage, planAttestations } from './attestation.ts'
import { type Review, recordAttested } from './review-store.ts'

type Answer = { readonly attestation_id: string; readonly attested_at: string; readonly entries: number }

export type Attest = {
  /** The attestation that is being sent; null if none is. */
  readonly progress: { readonly current: number; readonly total: number } | null
  readonly failure: Failure | null
  readonly send: (coverage: Coverage, comment: string, onDone: () => void) => void
}

export function useAttest(scope: string, { report }: Review): Attest {
  const isSending = useRef(false)
  const [progress, setProgress] = useState<Attest['progress']>(null)
  const [failure, setFailure] = useState<Failure | null>(null)

  const run = async (coverage: Coverage, comment: string): Promise<void> => {
    const { report_id, population_hash } = report
    const bodies = planAttestations({ report_id, population_hash, comment }, coverage)
    const ids: string[] = []
    const counts = { approve: 0, modify: 0, revoke: 0 }
    let covered = 0
    for (const [index, body] of bodies.entries()) {
      setProgress({ current: index + 1, total: bodies.length })
      const answer = await sendForJson<Answer>(connection, {
        method: 'POST',
        path: '/api/access/review/attest',
        json: body,
      })
      reportSuccess()
      const entries = body.entries ?? coverage.entries
      for (const { decision } of entries) counts[decision]++
      ids.push(answer.attestation_id)
      covered += answer.entries
      const attested = { ids: ids.slice(), at: answer.attested_at, comment, counts: { ...counts }, covered }
      recordAttested(scope, entries, attested)
    }
  }

  const send = async (coverage: Coverage, comment: string, onDone: () => void): Promise<void> => {
    if (isSending.current) return
    isSending.current = true
    setFailure(null)
    try {
      await run(coverage, comment)
      onDone()
    } catch (error) {
      reportError(error)
      setFailure(describeFailure(error, { isChange: true }))
    } finally {
      isSending.current = false
      setProgress(null)
    }
  }
  return {
    progress,
    failure,
    send: (coverage, comment, onDone) => void send(coverage, comment, onDone),
  }
}
