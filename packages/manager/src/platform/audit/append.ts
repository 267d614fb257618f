// Appends audit rows in the transaction of the change that they describe: both are committed or neither is.
import { sql } from 'kysely'
import type { Clock } from '../clock.ts'
import type { Tx } from '../postgres/handles.ts'
import { newId } from '../ids.ts'
import { type FieldClasses, diffRows } from './changes.ts'
import {
  type AuditEntry,
  type Principal,
  splitAroundHead,
  genesisHash,
  currentForm,
  systemChain,
} from './entry.ts'

/** The principal behind a change, and the client that the principal used. */
export type AuditActor = {
  principal: Principal
  ipAddress: string
  userAgent: string
  /** Trace id of the request that caused the change, if the request has a trace. */
  traceId?: string | undefined
}

/** Returns the actor of changes that a job or a CLI command makes; `name` identifies the job or command. */
export const createSystemActor = (name: string): AuditActor => ({
  principal: { type: 'system', id: name },
  ipAddress: '',
  userAgent: '',
})

/** Verbs that an audit row can record. */
export type AuditAction =
  | 'create'
  | 'update'
  | 'delete'
  | 'grant'
  | 'revoke'
  | 'rotate'
  | 'approve'
  | 'deny'
  | 'deliver'
  | 'export'
  | 'read'
  | 'attest'
  | 'wake'
  | 'run'
  | 'retry'
  | 'test'
  | 'accept'
  | 'deactivate'
  | 'reactivate'

/** A change to record: the entity, its rows before and after, and the classes of their fields. */
export type AuditEvent = {
  /** Project whose chain the row is appended to; null for the system chain. */
  projectId: string | null
  entityType: string
  entityId: string
  action: AuditAction
  description: string
  classes: FieldClasses
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
  metadata?: Record<string, unknown>
}

/** Appends one audit row per event, in the caller's transaction. */
export type Audit = { append(tx: Tx, actor: AuditActor, ...events: AuditEvent[]): Promise<void> }

const maxUserAgentLength = 500

/**
 * Creates the audit log. Each event costs one statement. `append` locks the head of the chain until the
 * transaction ends, so writers in the same project wait for each other, and `seq` has no gaps. Call it last
 * in the transaction, to hold the lock as briefly as possible.
 */
export function createAudit(clock: Clock): Audit {
  return {
    append: async (tx, actor, ...events) => {
      // Chains are locked in a fixed order, so that two transactions on the same chains cannot deadlock.
      const orderedEvents = events.toSorted((a, b) =>
        getChainId(a) < getChainId(b) ? -1 : getChainId(a) > getChainId(b) ? 1 : 0,
      )
      for (const event of orderedEvents) await appendEntry(tx, createEntry(event, actor, clock.now()))
    },
  }
}

/** An audit entry before the chain assigns its `seq`. */
export type NewEntry = Omit<AuditEntry, 'seq' | 'principal'> & { principal: Principal }
/** Returns the chain to which the event belongs: that of its project, or the system chain. */
export const getChainId = (event: AuditEvent): string => event.projectId ?? systemChain

/** Builds the entry that is appended for the event. */
export function createEntry(event: AuditEvent, actor: AuditActor, now: Date): NewEntry {
  const { principal } = actor
  return {
    form: currentForm,
    chainId: getChainId(event),
    id: newId(),
    entityType: event.entityType,
    entityId: event.entityId,
    action: event.action,
    description: toStorable(event.description),
    metadata:
      actor.traceId === undefined ? (event.metadata ?? {}) : { ...event.metadata, traceId: actor.traceId },
    changes: diffRows(event.classes, event.before, event.after),
    principal,
    userId: principal.type === 'user' ? principal.id : null,
    ipAddress: toStorable(actor.ipAddress),
    userAgent: toStorable(toStorable(actor.userAgent).slice(0, maxUserAgentLength)),
    createdAt: now.toISOString(),
  }
}

/** One statement reads the head, computes the hash and advances the head, so the lock costs only one round trip. */
async function appendEntry(tx: Tx, entry: NewEntry): Promise<void> {
  const { before, middle, after } = splitAroundHead(entry)
  const append = sql`
    with head as (
      select seq + 1 as seq, hash as prev_hash from audit_chains where chain_id = ${entry.chainId} for update
    ), link as (
      select seq, prev_hash, sha256(convert_to(
        ${before}::text || encode(prev_hash, 'hex') || ${middle}::text || seq::text || ${after}::text, 'UTF8')) as hash
      from head
    ), moved as (
      update audit_chains c set seq = link.seq, hash = link.hash from link where c.chain_id = ${entry.chainId}
    )
    insert into audit_logs (chain_id, seq, id, entity_type, entity_id, action, description, metadata, changes, form,
      principal_type, principal_id, user_id, ip_address, user_agent, created_at, prev_hash, hash)
    select ${entry.chainId}, seq, ${entry.id}, ${entry.entityType}, ${entry.entityId}, ${entry.action},
      ${entry.description}, ${JSON.stringify(entry.metadata)}::jsonb, ${JSON.stringify(entry.changes)}::jsonb,
      ${entry.form}, ${entry.principal.type}, ${entry.principal.id}, ${entry.userId}, ${entry.ipAddress}, ${entry.userAgent}, ${entry.createdAt}::timestamptz, prev_hash, hash
    from link`
  const { numAffectedRows } = await append.execute(tx)
  if (numAffectedRows === 1n) return
  await startChain(tx, entry.chainId)
  const retryResult = await append.execute(tx)
  if (retryResult.numAffectedRows !== 1n) throw new Error(`the audit chain ${entry.chainId} has no head`)
}

/** Creates the head of a chain that has no rows; does nothing if the head exists. */
export async function startChain(tx: Tx, chainId: string): Promise<void> {
  await tx
    .insertInto('auditChains')
    .values({ chainId, seq: 0, hash: genesisHash })
    .onConflict((conflict) => conflict.column('chainId').doNothing())
    .execute()
}

// The hash must not cover characters that PostgreSQL would store differently.
const toStorable = (text: string): string => text.replaceAll('\0', '').toWellFormed()
