// This list contains every evidence query. A new query needs its own file and an entry here.
import { accessGrants } from './access-grants.query.ts'
import { accessReviewAttestations } from './access-review-attestations.query.ts'
import { accessRevocations } from './access-revocations.query.ts'
import { auditAccess } from './audit-access.query.ts'
import { cliLogins } from './cli-logins.query.ts'
import { credentialRotations } from './credential-rotations.query.ts'
import { endpointChanges } from './endpoint-changes.query.ts'
import { esbFailures } from './esb-failures.query.ts'
import { esbTrafficSummary } from './esb-traffic-summary.query.ts'
import type { EvidenceQuery } from './evidence-query.pure.ts'
import { failedAuthentications } from './failed-authentications.query.ts'
import { invitations } from './invitations.query.ts'
import { lockouts } from './lockouts.query.ts'
import { machineUserLifecycle } from './machine-user-lifecycle.query.ts'
import { patLifecycle } from './pat-lifecycle.query.ts'
import { piletReleases } from './pilet-releases.query.ts'
import { privilegedAccess } from './privileged-access.query.ts'
import { provisioning } from './provisioning.query.ts'
import { roleChanges } from './role-changes.query.ts'
import { settingsChanges } from './settings-changes.query.ts'
import { staleCredentials } from './stale-credentials.query.ts'
import { triggerChanges } from './trigger-changes.query.ts'
import { triggerExecutions } from './trigger-executions.query.ts'

export const evidenceQueries: readonly EvidenceQuery[] = [
  accessGrants,
  accessRevocations,
  roleChanges,
  privilegedAccess,
  machineUserLifecycle,
  credentialRotations,
  staleCredentials,
  patLifecycle,
  cliLogins,
  failedAuthentications,
  lockouts,
  endpointChanges,
  settingsChanges,
  triggerChanges,
  piletReleases,
  triggerExecutions,
  esbTrafficSummary,
  esbFailures,
  auditAccess,
  accessReviewAttestations,
  invitations,
  provisioning,
]
