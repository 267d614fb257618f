import type { Db } from '../../platform/postgres/handles.ts'
import {
  type Verdict,
  type VerificationContext,
  type VerifyLimits,
  readVerdict,
  runVerification,
} from '../../platform/audit/verify-incremental.ts'
import type { Logger } from '../../platform/log/log.ts'
import type { AuditMetrics } from './audit.metrics.ts'

type VerificationDeps = {
  db: Db
  log: Logger
  metrics: AuditMetrics
  verifier: VerificationContext
  limits: VerifyLimits
  /** Throws if the database was created with a different master key. */
  assertMasterKey: () => Promise<void>
}

/** Verifies the audit trail incrementally. Reports the findings of all processes. */
export function createVerificationService(deps: VerificationDeps) {
  const { db, log, metrics, verifier, limits } = deps
  let verdict: Verdict | null = null
  // The newest checkpoint before which there are no findings.
  let verifiedSeq: number | null = null
  let reportedFindings = new Set<string>()
  metrics.watchVerification(() =>
    verdict === null ? null : { isOk: verdict.findings.length === 0, seq: verifiedSeq },
  )
  return {
    run: async (signal?: AbortSignal): Promise<void> => {
      // With a different key, every verification mark would look modified.
      await deps.assertMasterKey()
      await runVerification(verifier, limits, signal)
      verdict = await readVerdict(db.read, verifier.macKey)
      const findings = verdict?.findings ?? []
      if (verdict !== null && findings.length === 0) verifiedSeq = verdict.checkpointSeq
      // Each finding is logged once, not in every run.
      for (const finding of findings)
        if (!reportedFindings.has(finding)) log.error({ finding }, 'the audit trail is broken')
      reportedFindings = new Set(findings)
    },
  }
}
