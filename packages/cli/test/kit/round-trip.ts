// Exports a random project, and creates it again from the export.
import path from 'node:path'
import { connect } from '@manager/client'
import { expect } from 'vitest'
import { exportText, writeExport } from './export.ts'
import { RandomProject } from './random-project.ts'
import type { useSvc } from './svc.ts'

/** Expects that an empty project has the same export after the export of a random project was applied to it. */
export async function expectRoundTrip(
  { svc, env, folder }: Pick<ReturnType<typeof useSvc>, 'svc' | 'env' | 'folder'>,
  seed: number,
): Promise<void> {
  const slug = `random-${seed}`
  const connection = connect({ url: env['SVC_URL'] ?? '', token: env['SVC_TOKEN'] ?? '' })
  const project = new RandomProject(connection, seed)
  await project.create(slug)
  const text = await exportText(svc, slug)
  expect(project.secrets.filter((secret) => text.includes(secret))).toEqual([])
  expect((await svc(['projects', 'delete', slug, '--yes'])).code).toBe(0)
  expect((await svc(['projects', 'create', slug, '--name', 'Empty'])).code).toBe(0)
  const file = writeExport(path.join(folder.path, slug), text)
  const applied = await svc(['apply', '-f', file, '--yes'])
  expect([seed, applied.code, applied.code === 0 ? '' : applied.err]).toEqual([seed, 0, ''])
  expect(await exportText(svc, slug)).toBe(text)
  const { code, out } = await svc(['diff', '-f', file, '--prune'])
  expect([seed, code, out]).toEqual([seed, 0, ''])
}
