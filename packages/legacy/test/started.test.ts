// Tests that `manager legacy` starts the program of this package and passes all arguments to it.
import { spawn } from 'node:child_process'
import { runManagerProcess } from '@manager/harness/process.ts'
import { testEnv } from '@manager/harness/test-env.ts'
import { Client } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { runManager } from '../../manager/test/kit/commands.ts'
import { createScratchDatabase } from '../../manager/test/kit/databases.ts'
import { importArguments } from './imported.ts'
import { runLegacy } from './run-legacy.ts'

const manager = new URL('../../manager/src/commands/manager.ts', import.meta.url).pathname

describe('manager legacy', () => {
  test.each([
    [['--help'], 0],
    [['import', '--help'], 0],
    [[], 1],
    [['nothing'], 1],
    [['id', '4711'], 1],
    [['--config', '/nowhere.yaml', 'id', '4711'], 1],
  ] as [string[], number][])('prints and exits as its program does: %j', async (args, code) => {
    const started = await runManager(['legacy', ...args], {})
    expect(started).toEqual(await runLegacy(args, {}))
    expect([started.code, started.stdout + started.stderr]).toEqual([code, expect.stringMatching(/\S/)])
  })

  test('as a process does the same, wherever its options stand', async () => {
    const shown = await runLegacy(['--help'], {})
    expect(await runManagerProcess(['legacy', '-h'], {})).toEqual(shown)
    expect(await runManagerProcess(['help', 'legacy'], {})).toEqual(shown)
    const refused = await runLegacy(['id', '1', '--config', '/nowhere.yaml'], {})
    expect(await runManagerProcess(['-c', '/nowhere.yaml', 'legacy', 'id', '1'], {})).toEqual(refused)
  })

  test('ends its program when it is killed', async () => {
    const database = await createScratchDatabase()
    const client = new Client({ connectionString: database.url })
    await client.connect()
    onTestFinished(async () => {
      await client.end()
      await database.drop()
    })
    // Another import holds the lock, so this import waits until it is killed.
    await client.query('select pg_advisory_lock(7202611171)')
    const waiting = async (): Promise<number> => {
      const { rows } = await client.query<{ count: number }>(
        `select count(*)::int from pg_stat_activity where datname = $1 and query like '%pg_try_advisory_lock%'
           and pid <> pg_backend_pid()`,
        [database.name],
      )
      return rows[0]?.count ?? 0
    }
    const args = [manager, 'legacy', ...importArguments('postgres://reader@127.0.0.1:1/old')]
    const child = spawn(process.execPath, args, {
      env: { PATH: process.env['PATH'], ...testEnv(database.url) },
      stdio: 'ignore',
    })
    await expect.poll(waiting).toBe(1)
    child.kill('SIGKILL')
    await expect.poll(waiting).toBe(0)
  })
})
