// Prepares the data of the demo. The first start creates the objects and a month of history; a later start keeps what
// people have changed. If the first start was interrupted, the next one starts over.
import { type Connection, graphql } from '@manager/client'
import * as documents from '@manager/client/documents'
import type { Database } from '../src/platform/postgres/database.ts'
import { type ConnectMachine, registerSilentBackend } from './demo-backends.ts'
import { createContent } from './demo-data-content.ts'
import { type Partner, type TokenFileOf, createMachines, refreshMachines } from './demo-data-machine.ts'
import { type ConnectAs, type DemoShop, createShop, findShop } from './demo-data.ts'
import { hasHistory, writeHistory } from './demo-history.ts'
import { anna, mia, noah } from './demo-people.ts'
import type { MachineUserKey } from './demo-world.ts'

export type Setup = {
  database: Database
  /** A connection of an administrator. */
  admin: Connection
  as: ConnectAs
  connectMachine: ConnectMachine
  partner: Partner
  tokenFileOf: TokenFileOf
}

/** The machine users whose backends run in the demo. */
const runningKeys: readonly MachineUserKey[] = ['shop', 'deliveries', 'deliveries-qas']
const [hourMs, tokenHours] = [3_600_000, 123]

export async function ensureDemoData(setup: Setup): Promise<DemoShop> {
  const { admin, database, partner, tokenFileOf } = setup
  const existing = await findShop(admin)
  if (existing === null) return createDemoData(setup)
  if (await hasHistory(database, existing.project.id)) {
    await refreshMachines(admin, existing, { partner, tokenFileOf, keys: runningKeys })
    return existing
  }
  await graphql(admin, documents.deleteProjectDocument, { id: existing.project.id })
  return createDemoData(setup)
}

async function createDemoData(setup: Setup): Promise<DemoShop> {
  const { admin, as, database, connectMachine } = setup
  const authors = { owner: as(anna), maintainer: as(mia), developer: as(noah) }
  const shop = await createShop(admin, as)
  await createContent(authors, shop)
  const ids = await createMachines(authors, shop, setup)
  const expiresAt = new Date(Date.now() + tokenHours * hourMs).toISOString()
  await graphql(authors.owner, documents.createTokenDocument, { name: 'deploy-script', expiresAt })
  await registerSilentBackend(connectMachine, shop, database)
  await writeHistory(database, shop, ids)
  return shop
}
