// One audit row and its hash. Pure: both the writer and the verifier build exactly these bytes.
import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'

export type AuditEntry = {
  chainId: string
  seq: number
  id: string
  entityType: string
  entityId: string
  action: string
  description: string
  metadata: unknown
  changes: unknown
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

/** RFC 8785: one spelling for one value, whatever order its keys came in. */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value)
  if (text === undefined) throw new Error('value has no canonical JSON form')
  return text
}

/** SHA-256 over the canonical JSON of the entry together with the hash before it. */
export function hashEntry(entry: AuditEntry, prevHash: Buffer): Buffer {
  const { chainId, seq, id, entityType, entityId, action, description, metadata } = entry
  const { changes, userId, ipAddress, userAgent, createdAt } = entry
  const content = {
    chainId,
    seq,
    id,
    entityType,
    entityId,
    action,
    description,
    metadata,
    changes,
    userId,
    ipAddress,
    userAgent,
    createdAt,
    prevHash: prevHash.toString('hex'),
  }
  return createHash('sha256').update(canonicalJson(content)).digest()
}

/**
 * The canonical JSON that hashEntry covers, in the two parts around what only the head of the chain knows:
 * `before` + hash of the predecessor in hex + `","seq":` + seq + `after`. Keys are in code unit order, so the two stand
 * side by side.
 */
export function aroundHead(entry: Omit<AuditEntry, 'seq'>): { before: string; after: string } {
  const { userAgent, userId, ...earlier } = entry
  return {
    before: `${canonicalJson(earlier).slice(0, -1)},"prevHash":"`,
    after: `,${canonicalJson({ userAgent, userId }).slice(1)}`,
  }
}
