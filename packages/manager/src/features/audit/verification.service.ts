import type { Db } from '../../platform/postgres/handles.ts'
import {
  type Verdict,
  type Verifier,
  type VerifyLimits,
  readVerdict,
  verifyOn,
} from '../../platform/audit/verify-incremental.ts'
import type { Logger } from '../../platform/log/log.ts'
import type { AuditMetrics } from './audit.metrics.ts'

type VerificationDeps = {
  db: Db
  log: Logger
  metrics: AuditMetrics
  verifier: Verifier
  limits: VerifyLimits
  /** Throws when this database belongs to another master key. */
  assertMasterKey: () => Promise<void>
}

/** Verifies the trail bit by bit, and tells what was found, by whichever process. */
export function createVerificationService(deps: VerificationDeps) {
  const { db, log, metrics, verifier, limits } = deps
  let verdict: Verdict | null = null
  // Up to here everything was whole.
  let wholeSeq: number | null = null
  let told = new Set<string>()
  metrics.watchVerification(() =>
    verdict === null ? null : { isOk: verdict.findings.length === 0, seq: wholeSeq },
  )
  return {
    run: async (signal?: AbortSignal): Promise<void> => {
      // With another key every mark would look changed.
      await deps.assertMasterKey()
      await verifyOn(verifier, limits, signal)
      verdict = await readVerdict(db.read, verifier.macKey)
      const findings = verdict?.findings ?? []
      if (verdict !== null && findings.length === 0) wholeSeq = verdict.checkpointSeq
      // Once per finding, not once a minute.
      for (const finding of findings)
        if (!told.has(finding)) log.error({ finding }, 'the audit trail is broken')
      told = new Set(findings)
    },
  }
}
