// Versions of a pilet: an enabled one that the project enables and a tenant pins, and a disabled one.
import type { SeededProject } from '@manager/harness/seed.ts'
import { setLayer } from '../../../manager/test/kit/pilet-rows.ts'
import { seedPilet } from '../../../manager/test/kit/stored-pilets.ts'
import type { Scene } from './scene.ts'

export async function seedPilets(sql: Scene['service']['sql'], project: SeededProject) {
  const name = '@seed/menu'
  const piletId = await seedPilet(sql, project.id, name, { version: '1.0.0' })
  const disabledPiletId = await seedPilet(sql, project.id, name, { version: '1.1.0' })
  await sql.query('update pilet_packages set enabled = false where id = $1', [disabledPiletId])
  await setLayer(sql, project, 'project', { modules: [name] })
  await setLayer(sql, project, 'tenant', { pairs: { 'pilets.pins': JSON.stringify({ [name]: '1.0.0' }) } })
  return { piletId, disabledPiletId }
}
