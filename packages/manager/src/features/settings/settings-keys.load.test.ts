// Races two writers on one settings row. If they change different keys, both changes are kept. If both expect the same
// revision, exactly one change is applied.
import { expect, test } from 'vitest'
import { loadSize } from '@manager/harness/load-sizes.ts'
import { useProject } from '../../../test/kit/project.ts'

const { service, admin, project } = useProject()
const rounds = loadSize(250, 1_000)

async function findSettings(): Promise<{ id: string; revision: number }> {
  const { data } = await service.query(admin, `{ settings(project: "${project.id}") { id revision } }`)
  return data.settings as { id: string; revision: number }
}
const text = `mutation($p: ID!, $changes: [UpdateSettingsKeysInput!]!) {
  result: setSettingsKeys(projectId: $p, changes: $changes) { revision } }`
const setKey = (settingsId: string, key: string, value: string, expectedRevision?: number) =>
  service.query(admin, text, {
    p: project.id,
    changes: [{ settingsId, part: 'backend', set: [{ Key: key, Value: value }], expectedRevision }],
  })
async function readValues(id: string): Promise<Record<string, string>> {
  const { rows } = await service.sql.query<{ pairs: { Key: string; Value: string }[] }>(
    "select backend_module_config -> 'KeyValuePairs' as pairs from settings where id = $1",
    [id],
  )
  return Object.fromEntries((rows[0]?.pairs ?? []).map(({ Key, Value }) => [Key, Value]))
}

test(`two writers of different keys in ${rounds} rounds lose no key`, async () => {
  const { id } = await findSettings()
  let lost = 0
  for (let round = 0; round < rounds; round++) {
    const answers = await Promise.all([setKey(id, 'a', `${round}`), setKey(id, 'b', `${round}`)])
    expect(answers.map(({ error }) => error)).toEqual([null, null])
    const { a, b } = await readValues(id)
    if (a !== `${round}` || b !== `${round}`) lost++
  }
  expect(lost).toBe(0)
}, 120_000)

test(`of two writers that expect the same revision, one wins and the other gets CONFLICT, in ${rounds} rounds`, async () => {
  const { id } = await findSettings()
  for (let round = 0; round < rounds; round++) {
    const { revision } = await findSettings()
    const answers = await Promise.all([
      setKey(id, 'race', `a${round}`, revision),
      setKey(id, 'race', `b${round}`, revision),
    ])
    const winner = answers.findIndex(({ error }) => error === null)
    const loser = answers[1 - winner]
    expect(loser?.errors[0]?.extensions).toMatchObject({ code: 'CONFLICT', currentRevision: revision + 1 })
    expect((await readValues(id))['race']).toBe(`${winner === 0 ? 'a' : 'b'}${round}`)
  }
}, 120_000)
