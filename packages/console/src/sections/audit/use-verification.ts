// Verifies the hashes of the whole chain. The API verifies a part of it per request.
import { graphql } from '@manager/client'
import { useEffect, useRef, useState } from 'react'
import { connection } from '../../api/connection.ts'
import { type Failure, describeFailure } from '../../api/failures.ts'
import { type AuditVerificationResult, auditVerificationDocument } from '../../generated/documents.ts'

export type VerifiedPart = AuditVerificationResult['verifyAuditChain']
export type Verification =
  | { readonly state: 'idle' }
  | { readonly state: 'running'; readonly part: VerifiedPart | null }
  | { readonly state: 'done'; readonly part: VerifiedPart }
  | { readonly state: 'failed'; readonly failure: Failure }

type Verify = {
  readonly verification: Verification
  readonly start: () => void
  /** Stops a verification, or removes its result. */
  readonly stop: () => void
}

/** Verifies part by part, until the chain is broken or verified, or a part contains no entry. */
export async function verifyChain(
  project: string,
  signal: AbortSignal,
  onPart: (part: VerifiedPart) => void,
): Promise<VerifiedPart> {
  for (let fromSeq = 1; ;) {
    const { verifyAuditChain: part } = await graphql(
      connection,
      auditVerificationDocument,
      { project, fromSeq },
      { signal },
    )
    if (part.status !== 'ok' || part.isComplete || part.toSeq < fromSeq) return part
    onPart(part)
    fromSeq = part.toSeq + 1
  }
}

export function useVerification(project: string): Verify {
  const [verification, setVerification] = useState<Verification>({ state: 'idle' })
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])
  const start = async (): Promise<void> => {
    running.current?.abort()
    const abort = new AbortController()
    running.current = abort
    const show = (next: Verification): void => {
      if (!abort.signal.aborted) setVerification(next)
    }
    show({ state: 'running', part: null })
    try {
      const part = await verifyChain(project, abort.signal, (one) => show({ state: 'running', part: one }))
      show({ state: 'done', part })
    } catch (error) {
      show({ state: 'failed', failure: describeFailure(error) })
    }
  }
  return {
    verification,
    start: () => void start(),
    stop: () => {
      running.current?.abort()
      setVerification({ state: 'idle' })
    },
  }
}
