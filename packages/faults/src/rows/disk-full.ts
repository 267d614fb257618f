// F11: PostgreSQL's disk is full for a while. Writes receive 503, nothing acknowledged is lost, and the service
// recovers by itself. The scenario needs root to mount a small file system that can be filled.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { ensurePostgres } from '@manager/harness/engines/install.ts'
import { pause } from '../children.ts'
import { checkAccepted } from '../comms-checkers.ts'
import type { Cluster } from '../cluster.ts'
import { lostNotification } from '../comms-mutants.ts'
import { type MixedObserved, defineMixedRow } from '../mixed/row.ts'
import { type Span, findStartedIn, writesNeverRecover, recoverMs, shedPercent } from '../mixed/spans.ts'
import type { MixedStage } from '../mixed/stage.ts'
import type { Row } from '../row.ts'
import { mutant } from '../plant.ts'

type Observed = MixedObserved & {
  /** 1 if PostgreSQL had stopped and was restarted, as a supervisor would do. Otherwise 0. */
  restarts: number
  /** Problems that `pg_amcheck` found in tables and indexes. */
  corrupt: string[]
}

const firstMs = 6_000
const fullMs = 15_000
const lastMs = 15_000
const recoverSeconds = 10
const aliveMs = 2_000

async function observe(stage: MixedStage): Promise<Observed> {
  const { cluster } = stage
  // Limits the retained WAL, which must leave space for the data.
  await cluster.sql.query("alter system set max_wal_size = '96MB'")
  await cluster.sql.query("alter system set min_wal_size = '32MB'")
  await cluster.sql.query('select pg_reload_conf()')
  const load = await stage.startLoad((firstMs + fullMs + lastMs) / 1_000)
  await load.at(firstMs)
  stage.log(`filling PostgreSQL's disk for ${fullMs / 1_000} s`)
  const at = Date.now()
  await cluster.applyFault('disk fill')
  // Refills the space that PostgreSQL frees during the fault, such as that of a WAL segment.
  for (let ms = 1_000; ms < fullMs; ms += 1_000) {
    await load.at(firstMs + ms)
    await cluster.applyFault('disk fill')
  }
  await load.at(firstMs + fullMs)
  await cluster.applyFault('disk free')
  const until = Date.now()
  const restarts = await supervise(cluster)
  await load.end()
  return {
    ...(await load.settle()),
    restarts,
    corrupt: await checkFiles(cluster),
    faults: [{ name: 'the disk is full', at, until }],
  }
}

/** Restarts PostgreSQL if necessary: a server that cannot write its WAL stops and may not recover by itself. */
async function supervise(cluster: Cluster): Promise<number> {
  for (const end = Date.now() + aliveMs; Date.now() < end; await pause(200)) {
    const isAlive = await cluster.sql.query('select 1').then(
      () => true,
      () => false,
    )
    if (isAlive) return 0
  }
  await cluster.applyFault('postgres start')
  return 1
}

/** Compares every index with its table and checks every page. */
async function checkFiles({ adminUrl }: Cluster): Promise<string[]> {
  const { hostname, port } = new URL(adminUrl)
  const at = ['-h', hostname, '-p', port, '-U', 'postgres', '-d', 'postgres']
  const args = [...at, '--install-missing', '--heapallindexed', '--no-strict-names']
  try {
    const { stdout } = await promisify(execFile)(`${ensurePostgres()}/pg_amcheck`, args)
    return stdout.split('\n').filter(Boolean)
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    return `${stdout}\n${stderr}`.split('\n').filter(Boolean)
  }
}

const spanOf = ({ faults }: MixedObserved): Span => faults[0] ?? { at: 0, until: 0 }

export const f11: Row = defineMixedRow<Observed>({
  id: 'F11',
  title: "PostgreSQL's disk is full for 15 s (needs root)",
  setup: () => ({ replicas: 3, smallDisk: true }),
  limitSeconds: 300,
  observe,
  judge: (figures, observed) => {
    const { operations, comms } = observed
    const span = spanOf(observed)
    figures.none('accepted_lost', checkAccepted(comms))
    figures.none('corrupt', observed.corrupt)
    // Some calls must be rejected. Otherwise, the disk was not full.
    figures.atLeast(
      'refused',
      findStartedIn(operations, span).filter(({ status }) => status === 503).length,
      10,
    )
    figures.show('shed_pct', shedPercent(operations, span))
    figures.show('pg_restarts', observed.restarts)
    figures.atMost('recover_s', recoverMs(operations, span) / 1_000, recoverSeconds)
  },
  mutants: [
    writesNeverRecover('recover_s'),
    mutant('an accepted notification is not on disk', 'accepted_lost', (observed) => ({
      comms: lostNotification().plant(observed.comms),
    })),
    mutant('an index does not match its table', 'corrupt', () => ({
      corrupt: ['heap tuple lacks matching index tuple'],
    })),
    mutant('the disk has free space', 'refused', (observed) => ({
      operations: observed.operations.map((one) => ({ ...one, status: 200 })),
    })),
  ],
})
