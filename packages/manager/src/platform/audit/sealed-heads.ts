// Creates and parses files with the signed heads of all chains at a checkpoint. Operators keep such a file outside the
// database, and verification can resume from it later.
import { createHash } from 'node:crypto'
import type { Db } from '../postgres/handles.ts'
import type { SigningKey } from '../secrets/keys.ts'
import type { Head } from './checkpoint.ts'
import type { CheckpointKey } from './checkpoint-chain.ts'
import { formatCanonicalJson } from './entry.ts'
import { createQuery } from './rows.ts'

/** The signature covers the kind, so that no other signature of this key can be used for such a file. */
const kind = 'manager-audit-heads-1'

/** The file that `manager audit checkpoint export` writes. */
export type SealedHeads = {
  kind: string
  checkpoint: { seq: number; hash: string; createdAt: string }
  heads: Head[]
  keyId: string
  /** Base64. With this key, readers can verify the file without other data if they recognize its id. */
  publicKey: string
  hash: string
  signature: string
}

type Content = Omit<SealedHeads, 'hash' | 'signature'>

const hashHeads = ({ checkpoint, heads, keyId, publicKey, ...rest }: Content): Buffer => {
  const { seq, hash, createdAt } = checkpoint
  const content = {
    kind: rest.kind,
    checkpoint: { seq, hash, createdAt },
    heads: heads.map((head) => ({ chainId: head.chainId, seq: head.seq, hash: head.hash })),
    keyId,
    publicKey,
  }
  return createHash('sha256').update(formatCanonicalJson(content)).digest()
}

/**
 * Returns the signed list of all chain heads, each from the newest checkpoint of its chain; null if no checkpoint
 * exists.
 */
export async function readSealedHeads(db: Db, key: SigningKey): Promise<SealedHeads | null> {
  const content = await db.transaction(
    async (tx): Promise<Content | null> => {
      const query = createQuery(tx)
      const [last] = await query<{ seq: string; hash: string; createdAt: string }>(
        `select seq, encode(hash, 'hex') as hash, created_at as "createdAt" from audit_checkpoints order by seq desc limit 1`,
      )
      if (last === undefined) return null
      const heads = await query<{ chainId: string; seq: string; hash: string }>(
        `select l.chain_id as "chainId", l.seq, encode(l.hash, 'hex') as hash
         from audit_chains c join audit_logs l on l.chain_id = c.chain_id and l.seq = c.checkpointed_seq
         order by l.chain_id`,
      )
      return {
        kind,
        checkpoint: { ...last, seq: Number(last.seq) },
        heads: heads.map((head) => ({ ...head, seq: Number(head.seq) })),
        keyId: key.keyId,
        publicKey: key.publicKey.toString('base64'),
      }
    },
    { isSnapshot: true },
  )
  if (content === null) return null
  const hash = hashHeads(content)
  return { ...content, hash: hash.toString('hex'), signature: key.sign(hash).toString('base64') }
}

/** Parses an exported file; throws an error with a readable message unless one of the keys signed it. */
export function parseSealedHeads(text: string, keys: readonly CheckpointKey[]): SealedHeads {
  const file = parseFile(text)
  if (file === null) throw new Error('`manager audit checkpoint export` did not write this file')
  const key = keys.find(({ keyId }) => keyId === file.keyId)
  if (key === undefined) throw new Error(`the file is signed with the unknown key ${file.keyId}`)
  if (key.last !== undefined && file.checkpoint.seq > key.last.seq)
    throw new Error(`the file is signed with the key ${file.keyId}, which was already retired`)
  const hash = hashHeads(file)
  if (hash.toString('hex') !== file.hash) throw new Error('the file was changed')
  if (!key.verify(hash, Buffer.from(file.signature, 'base64'))) throw new Error('the signature is invalid')
  return file
}

function parseFile(text: string): SealedHeads | null {
  try {
    const file = JSON.parse(text) as Partial<SealedHeads> | null
    const isValid =
      file?.kind === kind &&
      Array.isArray(file.heads) &&
      typeof file.checkpoint?.seq === 'number' &&
      [file.keyId, file.publicKey, file.hash, file.signature].every((field) => typeof field === 'string')
    return isValid ? (file as SealedHeads) : null
  } catch {
    return null
  }
}
