// Tests which tests `npm run test:changed` selects after a change.
import { describe, expect, test } from 'vitest'
import { findRelatedTests } from '../tools/test-changed.ts'

const m = 'packages/manager'
const imports: Record<string, string> = {
  [`${m}/src/features/tenants/tenants.test.ts`]: `import { useProject } from '../../../test/kit/project.ts'\n`,
  [`${m}/src/features/users/users.test.ts`]: `import { seedUser } from '../../../test/kit/seed.ts'\n`,
  [`${m}/src/platform/postgres/partitions.test.ts`]: `import { x } from './partitions.ts'\n`,
  [`${m}/test/audit/forms.test.ts`]: '',
  [`${m}/test/graphql-budget.test.ts`]: '',
  [`${m}/test/policy/policy.test.ts`]: '',
  [`${m}/test/schema-rules.test.ts`]: '',
  [`${m}/test/words.test.ts`]: `import { findings } from '../tools/words.ts'\n`,
}
const suite = { tests: Object.keys(imports), readImports: (file: string) => imports[file] ?? '' }
const near = (file: string): string[] =>
  findRelatedTests(`${m}/${file}`, suite).map((path) => path.slice(m.length + 1))

describe('near a changed file', () => {
  test('are the tests of its folder, and of every operation where a schema changed', () => {
    expect(near('src/features/tenants/tenants.service.ts')).toEqual(['src/features/tenants/tenants.test.ts'])
    expect(near('src/features/tenants/tenants.graphql')).toEqual([
      'src/features/tenants/tenants.test.ts',
      'test/policy/policy.test.ts',
      'test/schema-rules.test.ts',
    ])
  })

  test('are the tests that import it, and those named after its folder', () => {
    expect(near('test/kit/project.ts')).toEqual(['src/features/tenants/tenants.test.ts'])
    expect(near('tools/words.ts')).toEqual(['test/words.test.ts'])
    expect(near('src/platform/audit/append.ts')).toEqual(['test/audit/forms.test.ts'])
    expect(near('src/platform/graphql/limits.ts')).toEqual(['test/graphql-budget.test.ts'])
  })

  test('are the browser tests of a console section', () => {
    const section = 'packages/console/test/sections/triggers.nightly.test.ts'
    const tests = [section, 'packages/console/test/sections/pilets.nightly.test.ts']
    const find = (file: string) => findRelatedTests(file, { tests, readImports: () => '' })
    expect(find('packages/console/src/sections/triggers/cron-words.ts')).toEqual([section])
    expect(find(section)).toEqual([section])
    expect(find('packages/console/src/app/csv.ts')).toEqual([])
  })

  test('is a test itself, but none that measures', () => {
    expect(near('test/words.test.ts')).toEqual(['test/words.test.ts'])
    expect(near('test/gone.test.ts')).toEqual([])
    expect(near('bench/run.ts')).toEqual([])
  })
})
