// These tests cover pilets.pins in the backend part, where the key has no effect.
import { beforeAll, expect, test } from 'vitest'
import { expectRefused } from '../../../test/kit/members.ts'
import { useProject } from '../../../test/kit/project.ts'

const { service, admin, project } = useProject()
let id: string
beforeAll(async () => {
  const { data } = await service.query(admin, `{ settings(project: "${project.id}") { id } }`)
  id = data.settings.id
})

const update = (input: object) =>
  service.query(
    admin,
    `mutation($id: ID!, $input: UpdateBackendModuleConfigInput!) {
      saved: updateBackendModuleConfig(id: $id, input: $input) { moduleConfig { EnabledModules KeyValuePairs { Key } } } }`,
    { id, input },
  )
const expectMisplaced = async (...KeyValuePairs: { Key: string; Value: string }[]): Promise<void> => {
  const answer = await update({ EnabledModules: ['menu'], KeyValuePairs })
  expectRefused(answer, 'bad_request')
  expect(answer.error).toBe(
    'pilets.pins has no effect in the backend part; save it with updateFrontendModuleConfig',
  )
}

test('[settings.reserved-keys] pilets.pins is refused in the backend part, also among others', async () => {
  await expectMisplaced({ Key: 'pilets.pins', Value: '{"@acme/menu": "1.2.3"}' })
  await expectMisplaced({ Key: 'a', Value: 'b' }, { Key: 'pilets.pins', Value: '{}' })
  const { data } = await service.query(
    admin,
    `{ settings(project: "${project.id}") { backendSetting { moduleConfig { EnabledModules } } } }`,
  )
  expect(data.settings.backendSetting.moduleConfig.EnabledModules).toEqual([])
})

test('[settings.reserved-keys] a row that has it from a former release can be changed otherwise, and lose it', async () => {
  const old = { EnabledModules: [], KeyValuePairs: [{ Key: 'pilets.pins', Value: '{}' }] }
  await service.sql.query('update settings set backend_module_config = $2 where id = $1', [id, old])
  expect((await update({ EnabledModules: ['menu'] })).data.saved.moduleConfig.EnabledModules).toEqual([
    'menu',
  ])
  await expectMisplaced(...old.KeyValuePairs)
  expect((await update({ KeyValuePairs: [] })).data.saved.moduleConfig.KeyValuePairs).toEqual([])
})
