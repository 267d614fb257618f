// GraphQL mutations that create tenants with unique slugs, and that repeatedly rename a few tenants.
import { randomInt, randomUUID } from 'node:crypto'
import { personHeaders } from '../installation.ts'
import { type Operation, type Recorder, outcomeOf } from '../recorder.ts'
import { type Client, graphqlStatus } from './client.ts'
import type { MixedWorld } from './world.ts'

/** One attempt to rename a tenant. */
export type Rename = {
  register: string
  value: string
  start: number
  end: number
  outcome: Operation['outcome']
}

const createText =
  'mutation($p: ID!, $s: String!) { made: createTenant(projectId: $p, input: { name: $s, slug: $s }) { id } }'
const renameText =
  'mutation($id: ID!, $n: String!) { made: updateTenant(id: $id, input: { name: $n }) { id } }'

type Caller = { client: Client; recorder: Recorder; world: MixedWorld }

const mutate = async ({ client, world }: Caller, query: string, variables: object): Promise<number> =>
  graphqlStatus(
    await client.send('/query', {
      headers: personHeaders(world.admins[randomInt(world.admins.length)] as string),
      body: { query, variables },
    }),
  )

/** Creates a tenant. Its slug is the key of the operation. */
export async function createTenant(caller: Caller): Promise<void> {
  const key = `t-${randomUUID()}`
  await caller.recorder.record('create', key, () =>
    mutate(caller, createText, { p: caller.world.site.projectId, s: key }),
  )
}

/** Renames tenants in rotation. Each tenant has one writer, which waits for the response. */
export function createRenamer(caller: Caller): { rename: () => Promise<void>; renames: Rename[] } {
  const renames: Rename[] = []
  const idle = [...caller.world.registers]
  let count = 0
  return {
    renames,
    rename: async () => {
      const register = idle.shift()
      if (register === undefined) return
      const [value, start] = [`v${++count}`, Date.now()]
      const status = await caller.recorder.record('rename', `${register} ${value}`, () =>
        mutate(caller, renameText, { id: register, n: value }),
      )
      renames.push({ register, value, start, end: Date.now(), outcome: outcomeOf(status) })
      idle.push(register)
    },
  }
}
