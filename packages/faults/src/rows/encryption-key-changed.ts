// F34: the encryption key is exchanged while secrets are used, written and walked over; the former key is removed in the end.
// Every secret opens at every moment, and all of them are on the new key.
import { personHeaders } from '../installation.ts'
import { type CommandResult, runManagerProcess } from '@manager/harness/process.ts'
import { keys, ring, sealedEndpoints, textOf } from '@manager/harness/sealed-endpoints.ts'
import { createSecrets, encryptionRing } from '@manager/manager/sealing'
import { masterKey } from '@manager/harness/callers.ts'
import { keepDoing } from '../pace.ts'
import { graphqlStatus } from '../mixed/client.ts'
import { type Drained, badExits, drainEnv, replaceReplicas } from '../mixed/rolling.ts'
import { type MixedObserved, defineMixedRow } from '../mixed/row.ts'
import type { MixedStage } from '../mixed/stage.ts'
import type { Operation } from '../recorder.ts'
import type { Row } from '../row.ts'
import { mutant } from '../plant.ts'

type Observed = MixedObserved & {
  drained: Drained[]
  /** Secrets that do not open with the new key alone, or say something else than was written last. */
  unopened: string[]
  rotation: { code: number; rewrapped: number; seen: number; seconds: number }
  /** What `keys status` says to somebody who has the new key alone. */
  status: Pick<CommandResult, 'code' | 'stdout'>
  /** Calls of the partner since no replica has the former key. */
  callsSince: number
}

const endpoints = 400
const writesPerSecond = 5
const leastSeconds = 20
const firstMs = 3_000
const lastMs = 4_000
// Nine replicas start, each of which takes a core for seconds: changes would queue behind that on a machine with two.
const rates = { calls: 20, creates: 2, renames: 2 }
const fewestCalls = 20
const rotateSeconds = 30

const keysOf = (...ids: (2026 | 2027)[]): Record<string, string> => ({ SVC_ENCRYPTION_KEYS: ring(...ids) })
const updateText = `mutation($id: ID!, $p: String!, $t: String!) {
  made: updateEndpoint(id: $id, input: { authPassword: $p, authToken: $t }) { id } }`

/** Seals and opens as a replica with this key does. */
const secretsOf = (id: 2026 | 2027) =>
  createSecrets(
    encryptionRing(
      Buffer.from(masterKey, 'base64'),
      new Map([[String(id), Buffer.from(keys[id], 'base64')]]),
    ),
  )

const sealedOf = ({ cluster, world }: MixedStage) =>
  sealedEndpoints(() => ({
    sql: cluster.sql,
    project: { id: world.site.projectId, applicationId: world.site.applicationId },
  }))

/** Writes secrets at an even pace, each row once, so that the last text of each is known. */
function startWriting({ client, recorder, world }: MixedStage, ids: readonly string[]) {
  const written = new Map<string, string>()
  /** What may have been written: there was no answer. */
  const perhaps = new Set<string>()
  let count = 0
  const end = keepDoing(writesPerSecond, async () => {
    const id = ids[count++]
    if (id === undefined) return
    const [p, t] = [`new password of ${id}`, `new token of ${id}`]
    const status = await recorder.record('seal', id, async () =>
      graphqlStatus(
        await client.send('/query', {
          headers: personHeaders(world.site.adminId),
          body: { query: updateText, variables: { id, p, t } },
        }),
      ),
    )
    if (status !== 200) return void perhaps.add(p).add(t)
    written.set(textOf(id, 'auth_password'), p)
    written.set(textOf(id, 'auth_token'), t)
  })
  return { written, perhaps, end }
}

async function rotate(stage: MixedStage): Promise<Observed['rotation']> {
  const start = performance.now()
  const { code, stdout } = await runManagerProcess(['keys', 'rotate'], commandEnv(stage, 2027, 2026))
  const [, rewrapped = '0', seen = '0'] = /^(\d+) of (\d+) secrets are now sealed/.exec(stdout) ?? []
  const seconds = (performance.now() - start) / 1_000
  return { code, rewrapped: Number(rewrapped), seen: Number(seen), seconds }
}

const commandEnv = ({ cluster }: MixedStage, ...ids: (2026 | 2027)[]): Record<string, string> => ({
  SVC_DATABASE_URL: cluster.adminUrl,
  SVC_REDIS_URL: cluster.redisUrl,
  SVC_MASTER_KEY: masterKey,
  ...keysOf(...ids),
})

async function observe(stage: MixedStage): Promise<Observed> {
  const { say, world, recorder } = stage
  const sealed = sealedOf(stage)
  const ids = await sealed.seedSealed(endpoints, secretsOf(2026))
  const load = await stage.startLoad(leastSeconds, rates)
  const writing = startWriting(stage, ids)
  await load.at(firstMs)
  const at = Date.now()
  say('every replica gets the new key, which opens')
  const drained = await replaceReplicas(stage, keysOf(2026, 2027))
  say('the new key seals')
  drained.push(...(await replaceReplicas(stage, keysOf(2027, 2026))))
  say('keys rotate')
  const rotation = await rotate(stage)
  say('the former key is removed')
  drained.push(...(await replaceReplicas(stage, keysOf(2027))))
  const [until, before] = [Date.now(), countCalls(recorder.operations)]
  await load.at(until - load.startedAt + lastMs)
  await load.end()
  await writing.end()
  const history = await load.settle()
  const { code, stdout } = await runManagerProcess(['keys', 'status'], commandEnv(stage, 2027))
  const unopened = (await sealed.openAll(secretsOf(2027), writing.written)).filter(
    (failure) => ![...writing.perhaps].some((text) => failure.includes(` is ${text}, not `)),
  )
  return {
    ...history,
    drained,
    // Those of the installation have no password; calls of the partner show that their tokens open.
    unopened: unopened.filter((text) => !text.includes(world.site.endpointId)),
    rotation,
    status: { code, stdout },
    callsSince: countCalls(recorder.operations) - before,
    faults: [{ name: 'the encryption key is exchanged', at, until }],
  }
}

/** Calls of the partner need the secret of the endpoint, and so do changes of it. */
const needsSecret = ({ op }: Operation): boolean => op === 'call' || op === 'seal'
/** Done, without an answer, or told to come again: `failed` counts the latter two. */
const isAnsweredOrAway = (status: number): boolean => status === 200 || status === 0 || status === 503

const isCall = ({ op }: Operation): boolean => op === 'call'
const countCalls = (operations: readonly Operation[]): number => operations.filter(isCall).length

export const f34: Row = defineMixedRow<Observed>({
  id: 'F34',
  title: 'the encryption key is exchanged under load, and the former one removed',
  setup: () => ({
    replicas: 3,
    postgres: 'patroni',
    withSentinel: true,
    env: { ...drainEnv, ...keysOf(2026) },
  }),
  limitSeconds: 600,
  observe,
  judge: (figures, observed) => {
    const { operations, unopened, rotation, status, drained } = observed
    const failed = operations.filter(needsSecret).filter(({ status }) => !isAnsweredOrAway(status))
    figures.none('decrypt_fail', [...failed.map((one) => `${one.op} ${one.status}`), ...unopened])
    figures.none(
      'failed',
      operations.filter(({ outcome }) => outcome === 'unknown').map((one) => `${one.op} ${one.status}`),
    )
    figures.atLeast('reencrypted', rotation.rewrapped, 1)
    figures.atMost('s', rotation.seconds, rotateSeconds)
    figures.none('rotate_failed', rotation.code === 0 ? [] : [`keys rotate ended with ${rotation.code}`])
    const isNew = status.code === 0 && status.stdout.includes(`2027 active ${rotation.seen} secrets`)
    figures.none('former_key_used', isNew ? [] : [status.stdout.trim()])
    figures.none('bad_exits', badExits(drained))
    figures.atLeast('restarts', drained.length, 9)
    figures.atLeast('calls_since', observed.callsSince, fewestCalls)
    figures.show('seals', operations.filter(({ op }) => op === 'seal').length)
    const [span] = observed.faults
    figures.show('rotation_s', ((span?.until ?? 0) - (span?.at ?? 0)) / 1_000)
  },
  mutants: [
    mutant('a replica cannot open what another has sealed', 'decrypt_fail', (observed) => {
      const first = observed.operations.findIndex(isCall)
      return {
        operations: observed.operations.map((one, index) =>
          index === first ? { ...one, status: 500, outcome: 'unknown' as const } : one,
        ),
      }
    }),
    mutant('a secret that was written during the walk is lost', 'decrypt_fail', () => ({
      unopened: ['auth_token of an endpoint'],
    })),
    mutant('the walk forgets a secret', 'former_key_used', () => ({
      status: { code: 1, stdout: '2026 is missing: 1 secret' },
    })),
    mutant('a call has no answer while a replica drains', 'failed', (observed) => ({
      operations: [
        ...observed.operations,
        { op: 'create', key: 'x', start: 0, end: 1, status: 0, outcome: 'unknown' },
      ],
    })),
    mutant('nothing was to be sealed anew', 'reencrypted', (observed) => ({
      rotation: { ...observed.rotation, rewrapped: 0 },
    })),
  ],
})
