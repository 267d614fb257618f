// Copies checkpoints to a bucket, each as a write-once object. The progress mark carries a MAC, so that the owner of
// the database cannot make the service skip checkpoints.
import type { KeyObject } from 'node:crypto'
import type { Logger } from '../log/log.ts'
import { type S3Settings, createBucketClient } from '../blobs/s3-client.ts'
import type { Checkpoint } from './checkpoint.ts'
import { readCheckpointRange } from './checkpoint-chain.ts'
import type { Query } from './rows.ts'
import { computeMac } from './verification-marks.ts'

const sink = 's3'
/** Maximum number of copies per run. */
const copiesPerRun = 500
const batchSize = 50

const computeCopiesMac = (key: KeyObject, seq: number): Buffer => computeMac(key, 'copies', sink, seq)

/** Returns the last copied checkpoint. A mark with an invalid MAC counts as 0, so copying starts over. */
async function readCopiedSeq(query: Query, key: KeyObject): Promise<number> {
  const [row] = await query<{ seq: string; mac: Buffer }>(
    'select seq, mac from audit_checkpoint_copies where sink = $1',
    [sink],
  )
  const seq = Number(row?.seq ?? 0)
  return row !== undefined && computeCopiesMac(key, seq).equals(row.mac) ? seq : 0
}

// If processes save concurrently, the larger number wins. `replacesMark` also overwrites an invalid mark or a mark that
// was made with an old key.
const saveCopiedSeq = (
  query: Query,
  key: KeyObject,
  { seq, replacesMark }: { seq: number; replacesMark: boolean },
) =>
  query(
    `insert into audit_checkpoint_copies (sink, seq, mac) values ($1, $2, $3)
     on conflict (sink) do update set seq = excluded.seq, mac = excluded.mac
     where $4 or audit_checkpoint_copies.seq < excluded.seq`,
    [sink, seq, computeCopiesMac(key, seq), replacesMark],
  )

/** Rewrites the mark with the MAC of a different key; does nothing if the mark is invalid under `from`. */
export async function renewCopyMark(query: Query, from: KeyObject, to: KeyObject): Promise<void> {
  const seq = await readCopiedSeq(query, from)
  if (seq > 0) await saveCopiedSeq(query, to, { seq, replacesMark: true })
}

const formatObjectKey = (prefix: string, { seq, hash }: Pick<Checkpoint, 'seq' | 'hash'>): string =>
  `${prefix}${String(seq).padStart(12, '0')}-${hash}.json`

// The object already exists: an interrupted run or another process wrote it.
const objectExistsErrors = new Set(['PreconditionFailed'])

type CopyDeps = { query: Query; macKey: KeyObject; settings: S3Settings; log: Logger }

/** Creates a copier that writes checkpoints to the bucket in order. */
export function createCheckpointCopies({ query, macKey, settings, log }: CopyDeps) {
  const { bucket: Bucket, prefix } = settings
  const client = createBucketClient(settings, log)
  const putCheckpoint = (checkpoint: Checkpoint): Promise<unknown> => {
    const Body = Buffer.from(`${JSON.stringify(checkpoint)}\n`)
    const input = { Bucket, Key: formatObjectKey(prefix, checkpoint), Body, ContentType: 'application/json' }
    return client.request(
      ({ sdk, client: s3, options }) =>
        s3.send(new sdk.PutObjectCommand({ ...input, IfNoneMatch: '*' }), options),
      { bytes: Body.length, expected: objectExistsErrors },
    )
  }
  return {
    /** Copies up to 500 checkpoints that have no copy yet; throws if the bucket rejects a copy. */
    copy: async (signal?: AbortSignal): Promise<void> => {
      let seq = await readCopiedSeq(query, macKey)
      let replacesMark = seq === 0
      for (let copyCount = 0; copyCount < copiesPerRun; copyCount += batchSize) {
        if (signal?.aborted === true) return
        const range = { from: seq + 1, to: Number.MAX_SAFE_INTEGER }
        const checkpoints = await readCheckpointRange(query, range, batchSize)
        if (checkpoints.length === 0) return
        try {
          for (const checkpoint of checkpoints) {
            await putCheckpoint(checkpoint)
            seq = checkpoint.seq
          }
        } finally {
          if (seq >= range.from) await saveCopiedSeq(query, macKey, { seq, replacesMark })
          replacesMark = false
        }
      }
    },
    /** Returns the number of checkpoints without a copy. */
    countMissingCopies: async (): Promise<number> => {
      const [row] = await query<{ seq: string }>('select coalesce(max(seq), 0) as seq from audit_checkpoints')
      return Math.max(0, Number(row?.seq ?? 0) - (await readCopiedSeq(query, macKey)))
    },
    close: (): Promise<void> => client.close(),
  }
}
