import { expect, test } from 'vitest'
import { unknownFiles } from '../tools/files.ts'

test('files that no rule knows are named: scratch files, backups, files in the wrong place', () => {
  const strays = [
    'packages/manager/packages',
    'packages/manager/notes.ts',
    'packages/manager/src/app.ts.orig',
    'packages/manager/src/dump.sql',
    'packages/manager/migrations/new.sql',
    'packages/manager/src/features/tenants/helpers.ts',
    'packages/manager/src/features/tenants/deep/tenants.service.ts',
    'packages/manager/src/features/tenants/tenants.helper.ts',
    'packages/manager/src/elsewhere/tenants.service.ts',
    'docs/decisions/draft.md',
    'packages/manager/test/out.json',
    'core',
    'a.log',
  ]
  const kept = ['README.md', 'packages/manager/src/features/tenants/tenants.service.ts', '.ci/run']
  expect(unknownFiles([...strays, ...kept])).toEqual(strays)
})
