// What a drill starts and ends: engines, processes, a folder for logs and backups.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { type Engines, startEngines } from '../cluster.ts'
import { type Replica, type ReplicaOptions, startReplica } from '../replicas.ts'
import { type Partner, startPartner } from '../installation.ts'

export type Say = (text: string) => void
export type Stage = {
  folder: string
  say: Say
  partner: Partner
  engines(): Promise<Engines>
  replica(engines: Engines, options: Omit<ReplicaOptions, 'folder'>): Promise<Replica>
  /** Done at the end, the last first. */
  atEnd(work: () => Promise<unknown>): void
  close(keepLogs: boolean): Promise<void>
}

/** Settings of every replica of a drill: limits that a load from one address would meet are raised. */
const env = {
  SVC_COMMS_EMIT_RATE: '10000',
  SVC_COMMS_EMIT_BURST: '10000',
  SVC_AUDIT_CHECKPOINT_INTERVAL_MS: '1000',
  // A balancer notices within this time that a process drains.
  SVC_SHUTDOWN_DRAIN_DELAY_MS: '2000',
}

export async function openStage(say: Say): Promise<Stage> {
  const folder = mkdtempSync(`${tmpdir()}/manager-drill-`)
  const ends: (() => Promise<unknown>)[] = []
  const partner = await startPartner()
  ends.push(() => partner.end())
  return {
    folder,
    say,
    partner,
    engines: async () => {
      const engines = await startEngines()
      ends.push(() => engines.stop())
      return engines
    },
    replica: async (engines, options) => {
      const replica = await startReplica(engines, { ...options, folder, env: { ...env, ...options.env } })
      ends.push(() => replica.end())
      return replica
    },
    atEnd: (work) => void ends.push(work),
    close: async (keepLogs) => {
      for (const end of ends.toReversed()) await end()
      if (keepLogs) say(`the logs are in ${folder}`)
      else rmSync(folder, { recursive: true, force: true })
    },
  }
}
