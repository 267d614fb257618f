// One audit row and its hash. Pure: both the writer and the verifier build exactly these bytes.
import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'

/** Who acted: a user or machine user by id, or the system, by the name of the job or command. */
export type Principal = { type: 'user' | 'machine_user' | 'system'; id: string }

/** What is hashed is of this form today. Rows of form 1 have no principal. */
export const presentForm = 2

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

/** What the first row of a chain names as its predecessor. */
export const genesisHash: Buffer = Buffer.alloc(32)

/** RFC 8785: one spelling for one value, in whatever order its keys came. */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value)
  if (text === undefined) throw new Error('value has no canonical JSON form')
  return text
}

/** SHA-256 over the canonical JSON of the entry together with the hash before it. */
export function hashEntry(entry: AuditEntry, prevHash: Buffer): Buffer {
  const content = { ...contentOf(entry), seq: entry.seq, prevHash: prevHash.toString('hex') }
  return createHash('sha256').update(canonicalJson(content)).digest()
}

/** What the hash covers beside the links. Form 1 knew neither the principal nor that there would be other forms. */
function contentOf(entry: Omit<AuditEntry, 'seq'>) {
  const { form, principal, ...first } = namedFields(entry)
  return form === 1 ? first : { ...first, form, principal }
}

/** Exactly these fields, and no others of a row. */
function namedFields(entry: Omit<AuditEntry, 'seq'>) {
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
 * The canonical JSON that hashEntry covers, in the three parts around what only the head of the chain knows:
 * `before` + hash of the predecessor in hex + `middle` + seq + `after`. Keys are in code unit order.
 */
export function aroundHead(entry: Omit<AuditEntry, 'seq'>): {
  before: string
  middle: string
  after: string
} {
  const { userAgent, userId, principal, ...earlier } = namedFields(entry)
  return {
    before: `${canonicalJson(earlier).slice(0, -1)},"prevHash":"`,
    middle: `",${canonicalJson({ principal }).slice(1, -1)},"seq":`,
    after: `,${canonicalJson({ userAgent, userId }).slice(1)}`,
  }
}
