// Plays the workflows as an unprivileged user in a clean clone. A small workflow shows that the player
// detects failures. Then the jobs of this repository run.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const root = new URL('../../../', import.meta.url).pathname
const player = `${root}packages/manager/tools/play-workflow.ts`
let folder: string
beforeAll(() => {
  folder = mkdtempSync(`${tmpdir()}/manager-played-`)
})
afterAll(() => rmSync(folder, { recursive: true }))

function start(args: string[], env: Record<string, string> = {}): ChildProcess {
  return spawn(process.execPath, [player, ...args], { cwd: root, env: { ...process.env, ...env } })
}

async function play(...args: string[]): Promise<{ code: number; printed: string }> {
  const child = start(args)
  let printed = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      printed += chunk.toString()
      process.stdout.write(chunk)
    })
  const [code] = (await once(child, 'exit')) as [number]
  return { code, printed }
}

const small = `
name: small
on: push
env: { GREETING: hello }
jobs:
  good:
    runs-on: ubuntu-24.04
    strategy: { matrix: { word: [one, two] } }
    steps:
      - uses: actions/checkout@v6
        with: { persist-credentials: false }
      - uses: actions/setup-node@v6
        with: { node-version: 24, cache: npm }
      - name: environment
        working-directory: docs
        env: { EXPECTED: 'hello-\${{ matrix.word }}' }
        run: |
          test "$GREETING-\${{ matrix.word }}" = "$EXPECTED"
          test "$PWD" = "$GITHUB_WORKSPACE/docs"
          test "$(id -u)" != 0
          test -z "$(git status --porcelain)"
          node -e 'if (!process.version.startsWith("v24.")) process.exit(1)'
          npm --version
          unshare --map-root-user --net true
          test ! -e ${root}
      - name: packages
        run: |
          sudo apt-get update -qq
          sudo apt-get install -y -qq --no-install-recommends hello
          hello
      - run: echo \${{ matrix.word }} > word.txt
      - uses: actions/upload-artifact@v6
        with: { name: 'words-\${{ matrix.word }}', path: word.txt, if-no-files-found: error }
  failing:
    runs-on: ubuntu-24.04
    steps:
      - { name: fails, run: 'echo the reason; exit 3' }
      - { name: after a failure, run: 'true' }
      - { name: because of a failure, if: failure(), run: 'true' }
      - { name: in any case, if: '\${{ !cancelled() }}', run: 'true' }
  root:
    runs-on: ubuntu-24.04
    container: { image: debian:bookworm, options: --privileged }
    steps:
      - { name: has root and no image, run: 'test "$(id -u)" = 0; test ! -e /usr/bin/git' }
  other-sudo:
    runs-on: ubuntu-24.04
    steps:
      - { name: reads a secret, run: sudo cat /etc/shadow }
  slow:
    runs-on: ubuntu-24.04
    steps:
      - { name: sleeps, run: sleep 86399, timeout-minutes: 0.05 }
  unbounded:
    runs-on: ubuntu-24.04
    steps:
      - { name: sleeps, run: sleep 86398 }
`

describe.skipIf(process.getuid?.() !== 0)('workflows', () => {
  test(
    'the player runs steps as a hosted runner does, and notices failures',
    { timeout: 1_800_000 },
    async () => {
      const file = `${folder}/small.yml`
      writeFileSync(file, small)
      const jobs = ['good', 'root', 'failing', 'other-sudo', 'slow'].flatMap((job) => ['--job', job])
      const { code, printed } = await play(file, ...jobs, '--artifacts', `${folder}/artifacts`)
      expect(code).toBe(1)
      expect(printed).toMatch(/^good \(one\): passed in \d+\.\d s$/m)
      expect(printed).toMatch(/^good \(two\): passed in \d+\.\d s$/m)
      expect(printed).toMatch(/^root: passed in /m)
      expect(readFileSync(`${folder}/artifacts/words-two/word.txt`, 'utf8')).toBe('two\n')
      expect(printed).toMatch(/^failed {2}failing \/ fails {2}\d+\.\d s\n +the reason\n.*exit code 3\.$/m)
      expect(printed).toMatch(/^skipped failing \/ after a failure$/m)
      expect(printed).toMatch(/^passed {2}failing \/ because of a failure /m)
      expect(printed).toMatch(/^passed {2}failing \/ in any case /m)
      expect(printed).toMatch(
        /^failed {2}other-sudo \/ reads a secret .*\n.*sudo: a (?:terminal|password) is required/m,
      )
      expect(printed).toMatch(/^failed {2}slow \/ sleeps .*\n(?:.*\n)?.*exceeded its time limit/m)
    },
  )

  test('a killed player leaves no process, no mount and no folder', { timeout: 900_000 }, async () => {
    const file = `${folder}/small.yml`
    writeFileSync(file, small)
    const TMPDIR = mkdtempSync(`${folder}/killed-`)
    const folders = (): string[] => readdirSync(TMPDIR).filter((name) => name.startsWith('manager-workflow-'))
    const sleepers = (): string[] => processesWith('sleep\x0086398\0')
    const child = start([file, '--job', 'unbounded'], { TMPDIR })
    try {
      await expect.poll(sleepers, { timeout: 600_000 }).toHaveLength(1)
      expect(folders()).toHaveLength(1)
    } finally {
      child.kill('SIGKILL')
    }
    await expect.poll(folders, { timeout: 120_000 }).toEqual([])
    expect(sleepers()).toEqual([])
    expect(readFileSync('/proc/mounts', 'utf8')).not.toContain(TMPDIR)
  })

  // Skip this test on a hosted runner, which has already run these jobs.
  test.skipIf(process.env['GITHUB_ACTIONS'] === 'true')(
    'every job of ci.yml passes',
    { timeout: 4 * 3_600_000 },
    async () => {
      const { code, printed } = await play('.github/workflows/ci.yml')
      expect(printed.match(/^.*: FAILED in .*$/gm)).toBeNull()
      expect(code).toBe(0)
    },
  )

  test('nightly.yml installs what it needs, and its command exists', { timeout: 3_600_000 }, async () => {
    const { code, printed } = await play('.github/workflows/nightly.yml', '--stop-before', 'test:nightly')
    expect(printed).toMatch(/^nightly: passed in /m)
    expect(code).toBe(0)
    const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { scripts: object }
    expect(Object.keys(scripts)).toContain('test:nightly')
  })
})

function processesWith(commandLine: string): string[] {
  return globSync('/proc/[0-9]*/cmdline').filter((file) => {
    try {
      return readFileSync(file, 'utf8') === commandLine
    } catch {
      return false
    }
  })
}
