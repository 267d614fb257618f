// F34: the encryption key is rotated while secrets are used, written and re-encrypted, and finally the old key is
// removed. Every secret can be opened at any time, and at the end all secrets use the new key.
import { personHeaders } from '../installation.ts'
import { type CommandResult, runManagerProcess } from '@manager/harness/process.ts'
import { keys, ring, sealedEndpoints, textOf } from '@manager/harness/sealed-endpoints.ts'
import { createSecrets, createEncryptionRing } from '@manager/manager/sealing'
import { masterKey } from '@manager/harness/callers.ts'
import { runAtPace } from '../pace.ts'
import { graphqlStatus } from '../mixed/client.ts'
import { type Drained, badExits, drainEnv, replaceReplicas } from '../mixed/rolling.ts'
import { type MixedObserved, defineMixedRow } from '../mixed/row.ts'
import type { MixedStage } from '../mixed/stage.ts'
import type { Operation } from '../recorder.ts'
import type { Row } from '../row.ts'
import { mutant } from '../plant.ts'

type Observed = MixedObserved & {
  drained: Drained[]
  /** Secrets that cannot be opened with only the new key, or that differ from the value that was written last. */
  unopened: string[]
  rotation: { code: number; rewrapped: number; seen: number; seconds: number }
  /** The result of `keys status` with only the new key. */
  status: Pick<CommandResult, 'code' | 'stdout'>
  /** Number of calls to the partner after the old key was removed from all replicas. */
  callsSince: number
}

const endpoints = 400
const writesPerSecond = 5
const minSeconds = 20
const firstMs = 3_000
const lastMs = 4_000
// Nine replicas start, and each occupies a core for several seconds. With two cores, a higher rate of changes would
// queue.
const rates = { calls: 20, creates: 2, renames: 2 }
const minCalls = 20
const rotateSeconds = 30

const keysOf = (...ids: (2026 | 2027)[]): Record<string, string> => ({ SVC_ENCRYPTION_KEYS: ring(...ids) })
const updateText = `mutation($id: ID!, $p: String!, $t: String!) {
  made: updateEndpoint(id: $id, input: { authPassword: $p, authToken: $t }) { id } }`

/** Creates an instance of the service's sealing code that has only this key. */
const secretsOf = (id: 2026 | 2027) =>
  createSecrets(
    createEncryptionRing(
      Buffer.from(masterKey, 'base64'),
      new Map([[String(id), Buffer.from(keys[id], 'base64')]]),
    ),
  )

const sealedOf = ({ cluster, world }: MixedStage) =>
  sealedEndpoints(() => ({
    sql: cluster.sql,
    project: { id: world.site.projectId, applicationId: world.site.applicationId },
  }))

/** Writes secrets at a constant rate. Each endpoint is written once, so that its last value is known. */
function startWriting({ client, recorder, world }: MixedStage, ids: readonly string[]) {
  const written = new Map<string, string>()
  /** Values whose write was not acknowledged, so they may or may not be stored. */
  const uncertain = new Set<string>()
  let count = 0
  const end = runAtPace(writesPerSecond, async () => {
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
    if (status !== 200) return void uncertain.add(p).add(t)
    written.set(textOf(id, 'auth_password'), p)
    written.set(textOf(id, 'auth_token'), t)
  })
  return { written, uncertain, end }
}

async function rotate(stage: MixedStage): Promise<Observed['rotation']> {
  const start = performance.now()
  const { code, stdout } = await runManagerProcess(['keys', 'rotate'], commandEnv(stage, 2027, 2026))
  const [, rewrapped = '0', seen = '0'] = /^Rewrapped (\d+) of (\d+) secrets/.exec(stdout) ?? []
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
  const { log, world, recorder } = stage
  const sealed = sealedOf(stage)
  const ids = await sealed.seedSealed(endpoints, secretsOf(2026))
  const load = await stage.startLoad(minSeconds, rates)
  const writing = startWriting(stage, ids)
  await load.at(firstMs)
  const at = Date.now()
  log('adding the new key for decryption')
  const drained = await replaceReplicas(stage, keysOf(2026, 2027))
  log('encrypting with the new key')
  drained.push(...(await replaceReplicas(stage, keysOf(2027, 2026))))
  log('rotating keys')
  const rotation = await rotate(stage)
  log('removing the previous key')
  drained.push(...(await replaceReplicas(stage, keysOf(2027))))
  const [until, before] = [Date.now(), countCalls(recorder.operations)]
  await load.at(until - load.startedAt + lastMs)
  await load.end()
  await writing.end()
  const history = await load.settle()
  const { code, stdout } = await runManagerProcess(['keys', 'status'], commandEnv(stage, 2027))
  const unopened = (await sealed.openAll(secretsOf(2027), writing.written)).filter(
    (failure) => ![...writing.uncertain].some((text) => failure.includes(` is ${text}, not `)),
  )
  return {
    ...history,
    drained,
    // The endpoint of the installation has no password. Calls to the partner prove that its token can be
    // opened.
    unopened: unopened.filter((text) => !text.includes(world.site.endpointId)),
    rotation,
    status: { code, stdout },
    callsSince: countCalls(recorder.operations) - before,
    faults: [{ name: 'the encryption key is rotated', at, until }],
  }
}

/** Calls to the partner and changes to the endpoint need its secret. */
const needsSecret = ({ op }: Operation): boolean => op === 'call' || op === 'seal'
/** The allowed outcomes are status 200, no response, and 503. The figure `failed` counts the last two. */
const isDoneOrUnavailable = (status: number): boolean => status === 200 || status === 0 || status === 503

const isCall = ({ op }: Operation): boolean => op === 'call'
const countCalls = (operations: readonly Operation[]): number => operations.filter(isCall).length

export const f34: Row = defineMixedRow<Observed>({
  id: 'F34',
  title: 'the encryption key is rotated under load, and the previous key is removed',
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
    const failed = operations.filter(needsSecret).filter(({ status }) => !isDoneOrUnavailable(status))
    figures.none('decrypt_fail', [...failed.map((one) => `${one.op} ${one.status}`), ...unopened])
    figures.none(
      'failed',
      operations.filter(({ outcome }) => outcome === 'unknown').map((one) => `${one.op} ${one.status}`),
    )
    figures.atLeast('reencrypted', rotation.rewrapped, 1)
    figures.atMost('s', rotation.seconds, rotateSeconds)
    figures.none('rotate_failed', rotation.code === 0 ? [] : [`keys rotate exited with ${rotation.code}`])
    const isNew = status.code === 0 && status.stdout.includes(`2027 active ${rotation.seen} secrets`)
    figures.none('previous_key_used', isNew ? [] : [status.stdout.trim()])
    figures.none('bad_exits', badExits(drained))
    figures.atLeast('restarts', drained.length, 9)
    figures.atLeast('calls_since', observed.callsSince, minCalls)
    figures.show('seals', operations.filter(({ op }) => op === 'seal').length)
    const [span] = observed.faults
    figures.show('rotation_s', ((span?.until ?? 0) - (span?.at ?? 0)) / 1_000)
  },
  mutants: [
    mutant("a replica cannot decrypt another replica's secret", 'decrypt_fail', (observed) => {
      const first = observed.operations.findIndex(isCall)
      return {
        operations: observed.operations.map((one, index) =>
          index === first ? { ...one, status: 500, outcome: 'unknown' as const } : one,
        ),
      }
    }),
    mutant('a secret that was written during the rotation is lost', 'decrypt_fail', () => ({
      unopened: ['auth_token of an endpoint'],
    })),
    mutant('the rotation skips a secret', 'previous_key_used', () => ({
      status: { code: 1, stdout: '2026 MISSING 1 secret' },
    })),
    mutant('a call has no response while a replica drains', 'failed', (observed) => ({
      operations: [
        ...observed.operations,
        { op: 'create', key: 'x', start: 0, end: 1, status: 0, outcome: 'unknown' },
      ],
    })),
    mutant('no secret is re-encrypted', 'reencrypted', (observed) => ({
      rotation: { ...observed.rotation, rewrapped: 0 },
    })),
  ],
})
