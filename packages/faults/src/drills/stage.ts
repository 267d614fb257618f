// Resources of a drill that are started and stopped together: PostgreSQL, Redis, processes, and a folder for logs and
// backups.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { type Engines, startEngines } from '../cluster.ts'
import { type Replica, type ReplicaOptions, startReplica } from '../replicas.ts'
import { type Partner, startPartner } from '../installation.ts'

export type Log = (text: string) => void
export type Stage = {
  folder: string
  log: Log
  partner: Partner
  engines(): Promise<Engines>
  replica(engines: Engines, options: Omit<ReplicaOptions, 'folder'>): Promise<Replica>
  /** Registers cleanup work, which runs in reverse order. */
  atEnd(work: () => Promise<unknown>): void
  close(keepLogs: boolean): Promise<void>
}

/** Settings of every replica in a drill. They raise the limits that load from a single address would exceed. */
const env = {
  SVC_COMMS_EMIT_RATE: '10000',
  SVC_COMMS_EMIT_BURST: '10000',
  SVC_AUDIT_CHECKPOINT_INTERVAL_MS: '1000',
  // The load balancer detects a draining replica within this time.
  SVC_SHUTDOWN_DRAIN_DELAY_MS: '2000',
}

export async function openStage(log: Log): Promise<Stage> {
  const folder = mkdtempSync(`${tmpdir()}/manager-drill-`)
  const cleanups: (() => Promise<unknown>)[] = []
  const partner = await startPartner()
  cleanups.push(() => partner.end())
  return {
    folder,
    log,
    partner,
    engines: async () => {
      const engines = await startEngines()
      cleanups.push(() => engines.stop())
      return engines
    },
    replica: async (engines, options) => {
      const replica = await startReplica(engines, { ...options, folder, env: { ...env, ...options.env } })
      cleanups.push(() => replica.end())
      return replica
    },
    atEnd: (work) => void cleanups.push(work),
    close: async (keepLogs) => {
      for (const cleanUp of cleanups.toReversed()) await cleanUp()
      if (keepLogs) log(`logs: ${folder}`)
      else rmSync(folder, { recursive: true, force: true })
    },
  }
}
