// Tests that the workflow player honors every key it reads, and rejects all others by name.
import { describe, expect, test } from 'vitest'
import { findAction } from '../tools/workflow-actions.ts'
import { type UsesStep, planWorkflow } from '../tools/workflow-plan.ts'

const workflow = (steps: string, job = ''): string => `
name: any
on: push
env: { A: workflow, B: workflow, C: workflow }
jobs:
  one:
    runs-on: ubuntu-24.04
${job.replaceAll(/^/gm, '    ')}
    steps:
${steps.replaceAll(/^/gm, '      ')}
`

describe('the plan of a workflow', () => {
  test('has a job per combination of the matrix, with its values in commands', () => {
    const job = 'strategy: { fail-fast: false, matrix: { shard: [1, 2], size: [small, large] } }'
    const jobs = planWorkflow(workflow('- run: echo ${{ matrix.shard }}-${{matrix.size}}', job))
    expect(jobs.map(({ name, steps: [step] }) => [name, step?.title])).toEqual([
      ['one (1, small)', 'echo 1-small'],
      ['one (1, large)', 'echo 1-large'],
      ['one (2, small)', 'echo 2-small'],
      ['one (2, large)', 'echo 2-large'],
    ])
  })

  test('merges env, defaults and limits from outside in', () => {
    const job = `timeout-minutes: 7
env: { B: job, C: job }
defaults: { run: { shell: bash, working-directory: docs } }`
    const steps = `- { name: first, run: ls, env: { C: step }, timeout-minutes: 2 }
- { run: ls, shell: sh, working-directory: packages, if: always() }`
    const [planned] = planWorkflow(workflow(steps, job))
    expect(planned).toMatchObject({ timeoutMinutes: 7 })
    expect(planned?.steps).toEqual([
      {
        title: 'first',
        run: 'ls',
        shell: ['bash', '--noprofile', '--norc', '-eo', 'pipefail'],
        folder: 'docs',
        env: { A: 'workflow', B: 'job', C: 'step' },
        condition: 'success',
        timeoutMinutes: 2,
      },
      {
        title: 'ls',
        run: 'ls',
        shell: ['sh', '-e'],
        folder: 'packages',
        env: { A: 'workflow', B: 'job', C: 'job' },
        condition: 'always',
        timeoutMinutes: null,
      },
    ])
  })

  test.each([
    ['- run: echo ${{ github.sha }}', '', 'job one, step 1: cannot evaluate ${{ github.sha }}'],
    [
      '- { run: ls, if: github.ref == 1 }',
      '',
      'job one, step 1: the workflow player does not support if: github.ref == 1',
    ],
    ['- { run: ls, continue-on-error: true }', '', 'the workflow player does not support continue-on-error'],
    ['- { run: ls, shell: pwsh }', '', 'the workflow player does not support shell pwsh'],
    ['- run: echo A=1 >> $GITHUB_ENV', '', 'the workflow player does not support GITHUB_ENV'],
    ['- name: empty', '', 'has neither run nor uses'],
    ['- run: ls', 'needs: two', 'job one: the workflow player does not support needs'],
    ['- run: ls', 'services: {}', 'job one: the workflow player does not support services'],
    [
      '- run: ls',
      'container: { image: node }',
      'job one: the workflow player does not support the image "node"',
    ],
    [
      '- run: ls',
      'container: { image: debian:bookworm }',
      'unsupported container options; only --privileged and --shm-size are supported',
    ],
    [
      '- run: ls',
      'strategy: { matrix: { include: [{ a: 1 }] } }',
      'the workflow player does not support the matrix key include',
    ],
  ])('rejects %s %s', (steps, job, message) => {
    expect(() => planWorkflow(workflow(steps, job))).toThrow(message)
  })

  test('tells a hosted machine from a container', () => {
    const job = 'container: { image: debian:bookworm, options: --privileged --shm-size=8g }'
    expect(planWorkflow(workflow('- run: ls'))[0]?.machine).toBe('hosted')
    expect(planWorkflow(workflow('- run: ls', job))[0]?.machine).toBe('container')
  })

  test('rejects another machine', () => {
    expect(() => planWorkflow(workflow('- run: ls').replace('ubuntu-24.04', 'macos-15'))).toThrow(
      'the workflow player does not support runs-on macos-15',
    )
  })
})

describe('an action', () => {
  const find = (step: string) => findAction(planWorkflow(workflow(step))[0]?.steps[0] as UsesStep)

  test('is known by name and version', () => {
    expect(find('- uses: actions/checkout@v6').inputs).toContain('persist-credentials')
    expect(() => find('- uses: actions/checkout@v1')).toThrow('no local command for actions/checkout@v1')
  })

  test('accepts known inputs only', () => {
    expect(() => find('- { uses: actions/checkout@v6, with: { persist-credential: false } }')).toThrow(
      'does not support the input persist-credential of actions/checkout@v6',
    )
  })
})
