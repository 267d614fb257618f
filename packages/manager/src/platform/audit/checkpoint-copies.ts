// Copies of checkpoints in a bucket, one object each, written once. How far they are is noted with a MAC: whoever owns the
// database cannot make the service leave some out.
import type { KeyObject } from 'node:crypto'
import type { Logger } from '../log/log.ts'
import { type S3Settings, createBucketClient } from '../blobs/s3-client.ts'
import type { Checkpoint } from './checkpoint.ts'
import { readCheckpointRange } from './checkpoint-chain.ts'
import type { Query } from './rows.ts'
import { macOf } from './verification-marks.ts'

const sink = 's3'
/** Copies that one run makes at most. */
const copiesPerRun = 500
const batchSize = 50

const macOfCopies = (key: KeyObject, seq: number): Buffer => macOf(key, 'copies', sink, seq)

/** Up to which checkpoint there are copies; a note that was changed counts for nothing. */
async function readCopied(query: Query, key: KeyObject): Promise<number> {
  const [row] = await query<{ seq: string; mac: Buffer }>(
    'select seq, mac from audit_checkpoint_copies where sink = $1',
    [sink],
  )
  const seq = Number(row?.seq ?? 0)
  return row !== undefined && macOfCopies(key, seq).equals(row.mac) ? seq : 0
}

// The larger number wins among processes that copy at once, unless it is not one of ours.
const noteCopied = (query: Query, key: KeyObject, { seq, isFirst }: { seq: number; isFirst: boolean }) =>
  query(
    `insert into audit_checkpoint_copies (sink, seq, mac) values ($1, $2, $3)
     on conflict (sink) do update set seq = excluded.seq, mac = excluded.mac
     where $4 or audit_checkpoint_copies.seq < excluded.seq`,
    [sink, seq, macOfCopies(key, seq), isFirst],
  )

/** Notes the same under another key. */
export async function renewCopyMark(query: Query, from: KeyObject, to: KeyObject): Promise<void> {
  const seq = await readCopied(query, from)
  if (seq > 0) await noteCopied(query, to, { seq, isFirst: true })
}

/** The name of a checkpoint's object. */
const copyName = (prefix: string, { seq, hash }: Pick<Checkpoint, 'seq' | 'hash'>): string =>
  `${prefix}${String(seq).padStart(12, '0')}-${hash}.json`

// It is there already: from a run that was interrupted, or another process.
const isThere = new Set(['PreconditionFailed'])

type CopyDeps = { query: Query; macKey: KeyObject; settings: S3Settings; log: Logger }

/** Writes checkpoints to the bucket in their order. */
export function createCheckpointCopies({ query, macKey, settings, log }: CopyDeps) {
  const { bucket: Bucket, prefix } = settings
  const client = createBucketClient(settings, log)
  const put = (checkpoint: Checkpoint): Promise<unknown> => {
    const Body = Buffer.from(`${JSON.stringify(checkpoint)}\n`)
    const input = { Bucket, Key: copyName(prefix, checkpoint), Body, ContentType: 'application/json' }
    return client.ask(
      ({ sdk, client: s3, options }) =>
        s3.send(new sdk.PutObjectCommand({ ...input, IfNoneMatch: '*' }), options),
      { bytes: Body.length, expected: isThere },
    )
  }
  return {
    /** Copies what has no copy yet, up to 500 checkpoints; throws when the bucket does not take one. */
    copy: async (signal?: AbortSignal): Promise<void> => {
      let seq = await readCopied(query, macKey)
      let isFirst = seq === 0
      for (let made = 0; made < copiesPerRun; made += batchSize) {
        if (signal?.aborted === true) return
        const range = { from: seq + 1, to: Number.MAX_SAFE_INTEGER }
        const checkpoints = await readCheckpointRange(query, range, batchSize)
        if (checkpoints.length === 0) return
        try {
          for (const checkpoint of checkpoints) {
            await put(checkpoint)
            seq = checkpoint.seq
          }
        } finally {
          if (seq >= range.from) await noteCopied(query, macKey, { seq, isFirst })
          isFirst = false
        }
      }
    },
    /** How many checkpoints have no copy yet. */
    lag: async (): Promise<number> => {
      const [row] = await query<{ seq: string }>('select coalesce(max(seq), 0) as seq from audit_checkpoints')
      return Math.max(0, Number(row?.seq ?? 0) - (await readCopied(query, macKey)))
    },
    close: (): Promise<void> => client.close(),
  }
}
