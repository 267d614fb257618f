// Reviewers attest the access that they have reviewed. An attestation does not change access.
import { createHash } from 'node:crypto'
import type { Actor } from '../../policy/actor.ts'
import { recheckSystemPermission } from '../../policy/recheck.ts'
import type { Audit } from '../../platform/audit/append.ts'
import { formatCanonicalJson, systemChain } from '../../platform/audit/entry.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { badRequest, conflict, orNotFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { checkEach, checkFields } from '../../platform/inputs/fields.ts'
import { checkText } from '../../platform/inputs/inputs.ts'
import * as store from './access-reviews.store.ts'

export type AttestDeps = { database: Pick<Database, 'longDb'>; audit: Audit }
export type AttestService = ReturnType<typeof createAttestService>

export type AttestationInput = {
  reportId: string | null
  populationHash: string | null
  decision: 'approve' | 'revoke' | 'modify'
  comment: string
  entries: readonly store.AttestedEntry[] | null
}

const [maxComment, maxJustification] = [2_000, 1_000]
/** Changes to these entity types can change access. */
const accessEntityTypes = [
  'application',
  'endpoint',
  'machineUser',
  'groupRule',
  'machineUser2Endpoint',
  'personalAccessToken',
  'project',
  'scimToken',
  'tenant',
  'tenantRoleDefinition',
  'user',
  'user2application',
  'user2project',
  'user2tenant',
]
const createChangedError = (): Error =>
  conflict('access has changed since the report was generated; request a new report and attest that report')

export function createAttestService({ database, audit }: AttestDeps) {
  return {
    /**
     * Records an attestation. Throws 403 without the permission, 404 for an unknown report, 409 if the
     * population has changed, and 400 for an unknown entry.
     */
    attest: (actor: Actor, input: AttestationInput) => {
      checkTexts(input)
      return database.longDb.transaction(async (tx) => {
        // The check locks the role until the transaction ends, so that a concurrent revocation takes effect after the
        // attestation.
        await recheckSystemPermission(tx, actor, 'ACCESS_REVIEW')
        const attestedAt = await store.lockAttestations(tx)
        const report =
          input.reportId === null
            ? null
            : orNotFound(await store.findReport(tx, input.reportId), 'access review report')
        const id = newId()
        const projectId = report?.projectId ?? null
        const chainId = projectId ?? systemChain
        const expectedHashes = [report?.populationHash ?? null, input.populationHash].filter(
          (hash) => hash !== null,
        )
        const { decision, entries, comment } = input
        const scope = { attestationId: id, projectId, chainId }
        const {
          hash,
          attested: attestedCount,
          unknown: unknownEntryId,
          seq,
        } = await store.attestEntries(tx, {
          ...scope,
          decision,
          expectedHashes,
          entries,
        })
        if (expectedHashes.some((expectedHash) => expectedHash !== hash)) throw createChangedError()
        if (unknownEntryId !== null)
          throw badRequest(`entries: ${unknownEntryId} is not an entry of the current population`, 'entries')
        const attestation: store.Attestation = {
          id,
          createdAt: attestedAt,
          createdBy: actor.user.id,
          reportId: report?.id ?? null,
          projectId,
          populationHash: hash,
          decision,
          comment,
          entries: attestedCount,
          namesEntries: entries !== null,
        }
        await store.insertAttestation(tx, attestation, entries ?? [])
        // Rejects the attestation if access changed while the entries were read. Otherwise, the attestation would be
        // dated after the change without covering the change. For the system scope, this check covers only the system
        // chain, which records changes to administrators and tokens. A concurrent grant in a project belongs to a
        // different chain and counts as later than the attestation.
        if (await store.hasChangedSince(tx, { chainId, seq }, accessEntityTypes)) throw createChangedError()
        await audit.append(tx, actor, createEvent(attestation, entries ?? []))
        return attestation
      })
    },
  }
}

function checkTexts({ comment, entries }: AttestationInput): void {
  const seenIds = new Set<string>()
  const checkEntry = ({ entryId, justification }: store.AttestedEntry): void => {
    checkFields({
      justification: () => checkText(justification, 'justification', maxJustification),
      entry_id: () => {
        if (seenIds.has(entryId)) throw badRequest(`entries: ${entryId} is listed twice`)
        seenIds.add(entryId)
      },
    })
  }
  checkFields({
    comment: () => checkText(comment, 'comment', maxComment),
    entries: () => checkEach(entries ?? [], checkEntry),
  })
}

function createEvent(attestation: store.Attestation, entries: readonly store.AttestedEntry[]) {
  const { id, projectId, reportId, populationHash, decision } = attestation
  const sortedEntries = entries.toSorted((a, b) => (a.entryId < b.entryId ? -1 : 1))
  const entriesDigest =
    entries.length === 0
      ? null
      : createHash('sha256').update(formatCanonicalJson(sortedEntries)).digest('hex')
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
