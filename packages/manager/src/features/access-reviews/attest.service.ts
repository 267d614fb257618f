// Attestations: somebody answers for the access that they have looked at. An attestation changes no access.
import { createHash } from 'node:crypto'
import type { Actor } from '../../policy/actor.ts'
import { recheckSystemPermission } from '../../policy/recheck.ts'
import type { Audit } from '../../platform/audit/append.ts'
import { canonicalJson, systemChain } from '../../platform/audit/entry.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { badRequest, conflict, orNotFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { checkText } from '../../platform/inputs/inputs.ts'
import * as store from './access-reviews.store.ts'

export type AttestDeps = { database: Pick<Database, 'longDb'>; audit: Audit }
export type AttestService = ReturnType<typeof createAttestService>

export type Given = {
  reportId: string | null
  populationHash: string | null
  decision: 'approve' | 'revoke' | 'modify'
  comment: string
  entries: readonly store.AttestedEntry[] | null
}

const [maxComment, maxJustification] = [2_000, 1_000]
/** A change of one of these may change access. */
const aboutAccess = [
  'application',
  'endpoint',
  'machineUser',
  'machineUser2Endpoint',
  'personalAccessToken',
  'project',
  'tenant',
  'tenantRoleDefinition',
  'user',
  'user2application',
  'user2project',
  'user2tenant',
]
const another = (): Error =>
  conflict('access has changed since the report: read the report again, then attest that one')

/** Attesting. */
export function createAttestService({ database, audit }: AttestDeps) {
  return {
    /** Throws 403, 404 for the report, 409 when the population is another one, 400 for an entry that is not in it. */
    attest: (actor: Actor, given: Given) => {
      checkTexts(given)
      return database.longDb.transaction(async (tx) => {
        // Locked until the end: who loses the role meanwhile loses it after the attestation.
        await recheckSystemPermission(tx, actor, 'ACCESS_REVIEW')
        const attestedAt = await store.lockAttestations(tx)
        const report =
          given.reportId === null
            ? null
            : orNotFound(await store.findReport(tx, given.reportId), 'access review report')
        const id = newId()
        const projectId = report?.projectId ?? null
        const chainId = projectId ?? systemChain
        const expected = [report?.populationHash ?? null, given.populationHash].filter(
          (hash) => hash !== null,
        )
        const { decision, entries, comment } = given
        const scope = { attestationId: id, projectId, chainId }
        const { hash, attested, unknown, seq } = await store.attestEntries(tx, {
          ...scope,
          decision,
          expected,
          entries,
        })
        if (expected.some((one) => one !== hash)) throw another()
        if (unknown !== null) throw badRequest(`entries: ${unknown} is no entry of the present population`)
        const attestation: store.Attestation = {
          id,
          createdAt: attestedAt,
          createdBy: actor.user.id,
          reportId: report?.id ?? null,
          projectId,
          populationHash: hash,
          decision,
          comment,
          entries: attested,
          namesEntries: entries !== null,
        }
        await store.insertAttestation(tx, attestation, entries ?? [])
        // What came into the chain while the entries were read would stand in front of an attestation that does not know it.
        // Of the system that is the chain of the system, with its administrators and tokens: a grant in a project that commits
        // meanwhile is in another chain, and simply after the attestation.
        if (await store.hasMovedSince(tx, { chainId, seq }, aboutAccess)) throw another()
        await audit.append(tx, actor, eventOf(attestation, entries ?? []))
        return attestation
      })
    },
  }
}

function checkTexts({ comment, entries }: Given): void {
  checkText(comment, 'comment', maxComment)
  const seen = new Set<string>()
  for (const { entryId, justification } of entries ?? []) {
    checkText(justification, 'justification', maxJustification)
    if (seen.has(entryId)) throw badRequest(`entries: ${entryId} is there twice`)
    seen.add(entryId)
  }
}

function eventOf(attestation: store.Attestation, entries: readonly store.AttestedEntry[]) {
  const { id, projectId, reportId, populationHash, decision } = attestation
  const sorted = entries.toSorted((a, b) => (a.entryId < b.entryId ? -1 : 1))
  const entriesDigest =
    entries.length === 0 ? null : createHash('sha256').update(canonicalJson(sorted)).digest('hex')
  return {
    projectId,
    entityType: 'accessReview',
    entityId: id,
    action: 'attest' as const,
    description: `accessReview of ${projectId === null ? 'the system' : 'the project'} attested: ${decision}`,
    classes: {},
    before: null,
    after: null,
    metadata: {
      report_id: reportId,
      project_id: projectId,
      population_hash: populationHash,
      decision,
      comment: attestation.comment,
      entries: attestation.entries,
      names_entries: attestation.namesEntries,
      entries_digest: entriesDigest,
    },
  }
}
