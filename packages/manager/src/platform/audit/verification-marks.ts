// Stored progress of the verification. Every mark carries a MAC under a key that the database does not know. Deleting a
// mark only causes repeated work, and a mark cannot be moved past unverified rows.
import { type KeyObject, createHmac, timingSafeEqual } from 'node:crypto'
import { deriveSecretKey } from '../secrets/keys.ts'
import { type CheckpointPosition, beforeCheckpoints } from './checkpoint-chain.ts'
import type { BrokenRow, Position, Query } from './rows.ts'

/** `new` reads each row once; `again` rereads the rows that `new` has verified, in rounds. */
export type Pass = 'new' | 'again'

/** Progress of a pass in one chain. Problems are recorded in the mark of the pass `new`. */
export type Mark = Position & {
  pass: Pass
  chainId: string
  /** Round of the pass `again`; marks of earlier rounds are ignored. */
  round: number
  /** The newest checkpoint that covers a verified row of this chain; 0 for none. */
  checkpointSeq: number
  broken: BrokenRow | null
}

/** Progress of both passes through the checkpoints. */
export type VerificationState = {
  /**
   * The last checkpoint that `new` has verified; `roundCheckpoint` is the last checkpoint that `again` has
   * verified in its current round.
   */
  checkpoint: CheckpointPosition
  roundCheckpoint: CheckpointPosition
  round: number
  /** Problem with the checkpoints or with the marks themselves. */
  problem: string | null
}

/** Returns the state before the first checkpoint. */
export const createInitialState = (round = 1, problem: string | null = null): VerificationState => ({
  checkpoint: beforeCheckpoints,
  roundCheckpoint: beforeCheckpoints,
  round,
  problem,
})

/** Derives the key of the MACs on all marks. */
export const deriveVerificationKey = (masterKey: Buffer): KeyObject =>
  deriveSecretKey(masterKey, 'audit-verification')

/** Returns the MAC of the fields. Only the last field may contain a line break, which is the separator. */
export const computeMac = (key: KeyObject, ...fields: (string | number | null)[]): Buffer =>
  createHmac('sha256', key).update(fields.join('\n')).digest()

const computeStateMac = (
  key: KeyObject,
  { checkpoint, roundCheckpoint, round, problem }: VerificationState,
) =>
  computeMac(
    key,
    'state',
    checkpoint.seq,
    checkpoint.hash,
    round,
    roundCheckpoint.seq,
    roundCheckpoint.hash,
    problem,
  )

function computeMarkMac(key: KeyObject, mark: Mark): Buffer {
  const { pass, chainId, round, seq, hash, checkpointSeq, broken } = mark
  const fields = [pass, chainId, round, seq, hash.toString('hex'), checkpointSeq]
  return computeMac(key, 'chain', ...fields, broken?.seq ?? null, broken?.reason ?? null)
}

type StateRow = {
  checkpointSeq: string
  checkpointHash: string
  round: string
  roundSeq: string
  roundHash: string
  problem: string | null
  mac: Buffer
  verifiedAt: string
}
const stateColumns = `checkpoint_seq as "checkpointSeq", encode(checkpoint_hash, 'hex') as "checkpointHash", round,
  round_seq as "roundSeq", encode(round_hash, 'hex') as "roundHash", problem, mac, verified_at as "verifiedAt"`
const forgedStateProblem = 'the verification state was changed in the database'

function parseState(key: KeyObject, row: StateRow): VerificationState {
  const state = {
    checkpoint: { seq: Number(row.checkpointSeq), hash: row.checkpointHash },
    roundCheckpoint: { seq: Number(row.roundSeq), hash: row.roundHash },
    round: Number(row.round),
    problem: row.problem,
  }
  return isValidMac(computeStateMac(key, state), row.mac)
    ? state
    : createInitialState(state.round + 1, forgedStateProblem)
}

const isValidMac = (expectedMac: Buffer, actualMac: Buffer): boolean =>
  actualMac.length === expectedMac.length && timingSafeEqual(expectedMac, actualMac)

/** Returns the stored state; null before the first run. A modified state is reported as a problem and reset. */
export async function readState(query: Query, key: KeyObject): Promise<VerificationState | null> {
  const [row] = await query<StateRow>(`select ${stateColumns} from audit_verification`)
  return row === undefined ? null : parseState(key, row)
}

// The lease outlasts a slice. A lease that ends more than 120 s in the future is invalid and ignored.
const leaseSeconds = 60

/**
 * Acquires the lease for 60 s; each save extends the lease. Returns null if another process holds the lease.
 */
export async function claimVerification(
  query: Query,
  key: KeyObject,
  leaseId: string,
): Promise<VerificationState | null> {
  const initialState = createInitialState()
  await query(
    `insert into audit_verification (checkpoint_seq, checkpoint_hash, round, round_seq, round_hash, mac)
     values (0, decode($1, 'hex'), 1, 0, decode($1, 'hex'), $2) on conflict do nothing`,
    [initialState.checkpoint.hash, computeStateMac(key, initialState)],
  )
  const [row] = await query<StateRow>(
    `update audit_verification
     set lease_id = $1, leased_until = clock_timestamp() + interval '${leaseSeconds} seconds'
     where lease_id = $1 or leased_until < clock_timestamp() or leased_until > clock_timestamp() + interval '${2 * leaseSeconds} seconds'
     returning ${stateColumns}`,
    [leaseId],
  )
  return row === undefined ? null : parseState(key, row)
}

/** Releases the lease, so that another process can continue. */
export const releaseVerification = (query: Query, leaseId: string): Promise<object[]> =>
  query("update audit_verification set lease_id = null, leased_until = 'epoch' where lease_id = $1", [
    leaseId,
  ])

/** Saves the state and the marks; saves nothing and returns false if another process has taken the lease. */
export async function saveVerification(
  query: Query,
  key: KeyObject,
  leaseId: string,
  { state, marks }: { state: VerificationState; marks: readonly Mark[] },
): Promise<boolean> {
  const { checkpoint, roundCheckpoint, round, problem } = state
  const rows = marks.map((mark) => ({ ...mark, mac: computeMarkMac(key, mark) }))
  const [savedRow] = await query<{ held: boolean }>(
    `with held as (
       update audit_verification set checkpoint_seq = $2, checkpoint_hash = decode($3, 'hex'), round = $4,
         round_seq = $5, round_hash = decode($6, 'hex'), problem = $7, mac = $8, verified_at = clock_timestamp(),
         leased_until = clock_timestamp() + interval '${leaseSeconds} seconds'
       where lease_id = $1 returning id
     ), moved as (
       insert into audit_verified_chains (pass, chain_id, round, seq, hash, checkpoint_seq, broken_seq, reason, mac)
       select m.pass, m.chain_id, m.round, m.seq, decode(m.hash, 'hex'), m.checkpoint_seq, m.broken_seq, m.reason,
         decode(m.mac, 'hex')
       from unnest($9::text[], $10::uuid[], $11::bigint[], $12::bigint[], $13::text[], $14::bigint[], $15::bigint[],
         $16::text[], $17::text[]) as m (pass, chain_id, round, seq, hash, checkpoint_seq, broken_seq, reason, mac)
       where exists (select from held)
       on conflict (pass, chain_id) do update set round = excluded.round, seq = excluded.seq, hash = excluded.hash,
         checkpoint_seq = excluded.checkpoint_seq, broken_seq = excluded.broken_seq, reason = excluded.reason,
         mac = excluded.mac
     )
     select exists (select from held) as held`,
    [
      leaseId,
      checkpoint.seq,
      checkpoint.hash,
      round,
      roundCheckpoint.seq,
      roundCheckpoint.hash,
      problem,
      computeStateMac(key, state),
      rows.map(({ pass }) => pass),
      rows.map(({ chainId }) => chainId),
      rows.map((mark) => mark.round),
      rows.map(({ seq }) => seq),
      rows.map(({ hash }) => hash.toString('hex')),
      rows.map(({ checkpointSeq }) => checkpointSeq),
      rows.map(({ broken }) => broken?.seq ?? null),
      rows.map(({ broken }) => broken?.reason ?? null),
      rows.map(({ mac }) => mac.toString('hex')),
    ],
  )
  return savedRow?.held === true
}

type MarkRow = Omit<Mark, 'round' | 'seq' | 'checkpointSeq' | 'broken'> & {
  round: string
  seq: string
  checkpointSeq: string
  brokenSeq: string | null
  reason: string | null
  mac: Buffer
}
const markColumns = `pass, chain_id as "chainId", round, seq, hash, checkpoint_seq as "checkpointSeq",
  broken_seq as "brokenSeq", reason, mac`

/** Returns the finding about a chain whose mark was modified. */
export const describeForgedMark = (chainId: string): string =>
  `the verification mark of chain ${chainId} was changed in the database`

/** The valid marks; `forged` lists the chains whose mark has an invalid MAC. */
export type Marks = { marks: Mark[]; forgedChainIds: string[] }

function parseMarks(key: KeyObject, rows: readonly MarkRow[]): Marks {
  const result: Marks = { marks: [], forgedChainIds: [] }
  for (const { mac, brokenSeq, reason, ...row } of rows) {
    const brokenRow = brokenSeq === null ? null : { seq: Number(brokenSeq), reason: reason ?? '' }
    const numbers = {
      round: Number(row.round),
      seq: Number(row.seq),
      checkpointSeq: Number(row.checkpointSeq),
    }
    const mark = { ...row, ...numbers, broken: brokenRow }
    if (isValidMac(computeMarkMac(key, mark), mac)) result.marks.push(mark)
    else result.forgedChainIds.push(mark.chainId)
  }
  return result
}

/** Returns the marks of these passes in these chains. */
export const readMarks = async (
  query: Query,
  key: KeyObject,
  chainIds: readonly string[],
  passes: readonly Pass[] = ['new', 'again'],
): Promise<Marks> =>
  parseMarks(
    key,
    await query<MarkRow>(
      `select ${markColumns} from audit_verified_chains where pass = any($2) and chain_id = any($1)`,
      [chainIds, passes],
    ),
  )

/** Returns the first chain that was verified but no longer has a head, as a list of at most one entry. */
export const listOrphanedMarks = async (query: Query): Promise<string[]> =>
  (
    await query<{ chainId: string }>(
      `select chain_id as "chainId" from audit_verified_chains v
       where pass = 'new' and not exists (select from audit_chains c where c.chain_id = v.chain_id)
       order by chain_id limit 1`,
    )
  ).map(({ chainId }) => chainId)

/** Returns the marks of the first 100 chains in which a problem was found. */
export const listBrokenMarks = async (query: Query, key: KeyObject): Promise<Marks> =>
  parseMarks(
    key,
    await query<MarkRow>(
      `select ${markColumns} from audit_verified_chains where broken_seq is not null order by chain_id limit 100`,
    ),
  )

/**
 * Deletes all progress: verification restarts at the first row, and a running process loses its lease. Call it in a
 * transaction: the first statement waits for a running save, and blocks other processes until the marks are deleted.
 */
export async function resetVerification(query: Query): Promise<void> {
  await query('delete from audit_verification')
  await query('delete from audit_verified_chains')
}
