// One audit row and its hash. The functions are pure: the writer and the verifier must build exactly the same bytes.
import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'

/** The author of a change: a user or machine user by id, or the system by the name of the job or command. */
export type Principal = { type: 'user' | 'machine_user' | 'system'; id: string }

/** Current format of the hashed content. Rows of form 1 have no principal. */
export const currentForm = 2

/** The fields of an audit row that its hash covers. */
export type AuditEntry = {
  form: number
  chainId: string
  seq: number
  id: string
  entityType: string
  entityId: string
  action: string
  description: string
  metadata: unknown
  changes: unknown
  /** Null in form 1. */
  principal: Principal | null
  userId: string | null
  ipAddress: string
  userAgent: string
  /** RFC 3339 with milliseconds, fixed before hashing. */
  createdAt: string
}

/** The chain of changes that belong to no project. */
export const systemChain = '00000000-0000-0000-0000-000000000000'

/** The predecessor hash in the first row of a chain. */
export const genesisHash: Buffer = Buffer.alloc(32)

/** Serializes a value as RFC 8785 JSON, independent of key order; throws if the value has no JSON form. */
export function formatCanonicalJson(value: unknown): string {
  const text = canonicalize(value)
  if (text === undefined) throw new Error('value has no canonical JSON form')
  return text
}

/** Returns the SHA-256 of the canonical JSON of the entry and the hash of its predecessor. */
export function hashEntry(entry: AuditEntry, prevHash: Buffer): Buffer {
  const content = { ...getHashedContent(entry), seq: entry.seq, prevHash: prevHash.toString('hex') }
  return createHash('sha256').update(formatCanonicalJson(content)).digest()
}

/** Returns the hashed fields except the links. Form 1 had neither `principal` nor `form`. */
function getHashedContent(entry: Omit<AuditEntry, 'seq'>) {
  const { form, principal, ...linklessFields } = pickHashedFields(entry)
  return form === 1 ? linklessFields : { ...linklessFields, form, principal }
}

/** Picks only the hashed fields: the row may have other fields. */
function pickHashedFields(entry: Omit<AuditEntry, 'seq'>) {
  const { form, chainId, id, entityType, entityId, action, description, metadata } = entry
  const { changes, principal, userId, ipAddress, userAgent, createdAt } = entry
  return {
    form,
    chainId,
    id,
    entityType,
    entityId,
    action,
    description,
    metadata,
    changes,
    principal,
    userId,
    ipAddress,
    userAgent,
    createdAt,
  }
}

/**
 * Returns the canonical JSON that hashEntry covers, split around the values that only the chain head contains:
 * `before` + hash of the predecessor in hex + `middle` + seq + `after`. Keys are in code unit order.
 */
export function splitAroundHead(entry: Omit<AuditEntry, 'seq'>): {
  before: string
  middle: string
  after: string
} {
  const { userAgent, userId, principal, ...earlierFields } = pickHashedFields(entry)
  return {
    before: `${formatCanonicalJson(earlierFields).slice(0, -1)},"prevHash":"`,
    middle: `",${formatCanonicalJson({ principal }).slice(1, -1)},"seq":`,
    after: `,${formatCanonicalJson({ userAgent, userId }).slice(1)}`,
  }
}
