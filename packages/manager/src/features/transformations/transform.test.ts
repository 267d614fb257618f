// These tests check that the result does not depend on the thread that renders a body, and that no rendering blocks
// the event loop.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import * as fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import {
  type Input,
  at,
  options,
  outcome,
  patientLimits,
  transformationOf,
} from '../../../test/kit/transformations.ts'
import { AppError } from '../../platform/errors.ts'
import { createTemplateFunctions } from './template-functions.pure.ts'
import { createTransformPool, poolLimits } from './transform-pool.service.ts'
import { type TransformProblem, createTransformService } from './transform.service.ts'
import { type RenderTask, createRenderer } from './transform.pure.ts'

const names = {
  Application: { ID: '', Name: '', Slug: 'shop', Description: '' },
  Endpoint: { ID: '', Name: 'Orders', ConsumeURL: '/', URL: '', Description: '' },
  User: { ID: '', Username: '', Name: 'Ada' },
}

const service = createTransformService(options, patientLimits)
const pool = createTransformPool(options, patientLimits)
const renderer = createRenderer(options)
afterAll(() => Promise.all([service.close(), pool.close()]))

const taskOf = ({ template, body, type = null }: Input): RenderTask => ({
  template,
  inputMessageType: type,
  outputMessageType: null,
  body: Buffer.from(body),
  names,
  at,
})
/** Returns the outcome on this thread with the full budget, in a worker, and through the service. */
const everywhere = async (input: Input) => ({
  here: await outcome(() => renderer.render(taskOf(input))),
  worker: await outcome(() => pool.render(taskOf(input), ['one'])),
  service: await outcome(async () => (await service.render(transformationOf(input))).output),
})
const same = async (input: Input): Promise<unknown> => {
  const { here, worker, service: chosen } = await everywhere(input)
  expect([worker, chosen]).toEqual([here, here])
  return here
}

const templates = [
  '{{toJson .Data}}|{{.Application.Slug}} {{.Endpoint.Name}} {{.User.Name}}',
  '{{range $k, $v := .Data}}{{$k}}={{jsonEscape $v}};{{else}}none{{end}}',
  '{{.Meta.Timestamp}} {{.Meta.RequestTime.Year}} {{now}} {{env "SVC_REGION"}} {{.Env}} {{toUpper (toString .Data)}}',
  '{{with .Data.a}}{{toLower (printf "%v" .)}}{{end}}{{len .Data}}{{html .Data}}',
  '{{.Data.a.b.c}}',
  '{{index .Data 0}}{{slice (print .Data) 1 3}}',
]
const json = fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }).map((value) => JSON.stringify(value))
const xml = fc
  .array(fc.constantFrom('<a>', '</a>', '<b c="1"/>', 'text', '&lt;', '<![CDATA[x]]>', '<!--c-->', '&'))
  .map((pieces) => `<r>${pieces.join('')}</r>`)

describe('here and in a worker', () => {
  test('every body and template give the same text or the same problem', async () => {
    const property = fc.asyncProperty(
      fc.constantFrom(...templates),
      fc.oneof(json, xml, fc.string({ unit: 'binary' })),
      fc.constantFrom(null, 'JSON', 'XML', 'SOAP'),
      async (template, body, type) => {
        const { here, worker, service: chosen } = await everywhere({ template, body, type })
        expect([worker, chosen]).toEqual([here, here])
      },
    )
    await fc.assert(property, { numRuns: 400 })
  })

  test('[esb-templates.budget] a used up budget, a depth and a problem of the body read the same', async () => {
    const many = JSON.stringify(Array(1_000).fill(1))
    const cases: [Input, RegExp][] = [
      [{ template: '{{range .Data}}{{range $.Data}}{{end}}{{end}}', body: many }, /step budget/],
      [{ template: '{{range .Data}}{{printf "%100000d" 1}}{{end}}', body: many }, /output budget/],
      [{ template: '{{define "a"}}{{template "a"}}{{end}}{{template "a"}}', body: '' }, /nested too deeply/],
      [
        { template: '{{toJson .Data}}', body: `${'['.repeat(600)}${']'.repeat(600)}` },
        /more than 500 levels deep/,
      ],
      [{ template: '{{toJson .Data}}', body: `${'['.repeat(500)}${']'.repeat(500)}` }, /^\[+\]+$/],
      [{ template: '{{nothing}}', body: '' }, /function "nothing" not defined/],
      [{ template: 'x', body: '{', type: 'JSON' }, /^the body is not JSON as the endpoint expects$/],
      [{ template: 'x', body: '<!DOCTYPE a><a/>', type: 'SOAP' }, /^the body is not SOAP .*DOCTYPE/],
    ]
    for (const [input, wanted] of cases) {
      const result = await same(input)
      expect(typeof result === 'string' ? result : (result as TransformProblem).message).toMatch(wanted)
    }
  })

  test('bodies are UTF-8: a byte order mark is dropped, other bytes are refused where a type is declared', async () => {
    const template = '{{toJson .Data}}'
    for (const type of [null, 'JSON'])
      expect(await same({ template, body: '\ufeff{"a":1}', type })).toBe('{"a":1}')
    expect(await same({ template, body: '\ufeff<a/>', type: 'XML' })).toBe('{"a":""}')
    expect(await same({ template, body: '\ufefftext' })).toBe('{"Body":"text"}')
    const broken = Buffer.from([0x22, 0xff, 0x22])
    for (const type of ['JSON', 'XML', 'SOAP'])
      expect(await same({ template, body: broken, type })).toEqual({
        of: 'body',
        message: `the body is not ${type} as the endpoint expects: it is not UTF-8`,
      })
    expect(await same({ template, body: broken })).toBe('"\ufffd"')
    expect(await same({ template: '{{.Data.Body}}', body: Buffer.from([0xff, 0x61]) })).toBe('\ufffda')
  })

  test('JSON with more than a million lists and objects is refused before it takes their memory', async () => {
    const refused = { of: 'body', message: 'the body has more than 1000000 lists and objects' }
    for (const type of [null, 'JSON'])
      expect(await same({ template: 'x', body: `[${'{},'.repeat(1_000_000)}1]`, type })).toEqual(refused)
    expect(await same({ template: '{{len .Data}}', body: `[${'[],'.repeat(999_999)}1]` })).toBe('1000000')
  })

  test('[esb-templates.text-functions] a character is mapped to one character or stays as it is', () => {
    const { toUpper, toLower } = createTemplateFunctions({}, () => '')
    const all = Array.from({ length: 0x20000 }, (_, code) => String.fromCodePoint(code)).filter((c) =>
      c.isWellFormed(),
    )
    const context = { charge: () => {}, print: String, noteNumber: () => {} }
    const one = (map: (c: string) => string) =>
      all.map((c) => [c, map(c)] as const).map(([c, other]) => (Array.from(other).length === 1 ? other : c))
    const text = all.join('')
    expect(toUpper?.call([text] as never, context) === one((c) => c.toUpperCase()).join('')).toBe(true)
    expect(toLower?.call([text] as never, context) === one((c) => c.toLowerCase()).join('')).toBe(true)
    expect(toLower?.call(['ΟΔΟΣ İ'] as never, context)).toBe('οδοσ İ')
  })
})

describe('which thread renders', () => {
  const large = (): Buffer => Buffer.from(JSON.stringify(Array(10_000).fill(1)))

  test('a small body is rendered at once, and kept', () => {
    const body = Buffer.from('{"a":1}')
    const rendered = service.render(transformationOf({ template: '{{.Data.a}}', body }))
    expect(rendered).toEqual({ output: Buffer.from('1'), contentType: 'application/json' })
    expect(body.toString()).toBe('{"a":1}')
  })

  test('a large one changes hands without being copied; a part of a larger buffer is copied out', async () => {
    const body = Buffer.allocUnsafeSlow(large().length)
    large().copy(body)
    const rendered = service.render(transformationOf({ template: '{{len .Data}}', body }))
    expect(rendered).toBeInstanceOf(Promise)
    expect((await rendered).output.toString()).toBe('10000')
    expect(body).toHaveLength(0)
    const whole = Buffer.concat([Buffer.from('before'), large(), Buffer.from('after')])
    const part = whole.subarray(6, -5)
    const { output } = await service.render(transformationOf({ template: '{{len .Data}}', body: part }))
    expect(output.toString()).toBe('10000')
    expect(whole.toString()).toMatch(/^before.*after$/)
  })

  test('a template that needs more than the main thread gives has the whole budget; smaller bodies stay', async () => {
    const template = '{{range .Data}}{{range $.Data}}{{end}}{{end}}done'
    const render = (length: number) =>
      service.render(transformationOf({ template, body: JSON.stringify(Array(length).fill(1)) }))
    expect(render(10)).not.toBeInstanceOf(Promise)
    for (let round = 0; round < 2; round++) {
      const rendered = render(200)
      expect(rendered).toBeInstanceOf(Promise)
      expect((await rendered).output.toString()).toBe('done')
    }
    expect(render(10)).not.toBeInstanceOf(Promise)
    const long = service.render(transformationOf({ template: '{{printf "%100000d" 1}}', body: '' }))
    expect((await long).output).toHaveLength(100_000)
  })
})

describe('limits of the workers', () => {
  const body = (): Buffer => Buffer.from(JSON.stringify(Array(10_000).fill(1)))

  test('what does not fit into the queue is answered 503, and a project that has a place keeps it', async () => {
    const small = createTransformService(options, { ...poolLimits, threads: 1, maxQueue: 2 })
    const render = (application: string) =>
      Promise.resolve(
        small.render(transformationOf({ template: '{{len .Data}}', body: body(), application })),
      )
    // One rendering runs and two wait. The second slot of `one` is given to `two`, so each has one slot.
    const results = await Promise.allSettled(['one', 'one', 'one', 'two', 'three'].map(render))
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
    ])
    const { reason } = results[2] as PromiseRejectedResult
    expect(reason).toBeInstanceOf(AppError)
    expect(reason).toMatchObject({ status: 503, retryAfterSeconds: 1 })
    expect((await render('one')).output.toString()).toBe('10000')
    await small.close()
  })

  test('threads start when they are needed and end with the service', async () => {
    const threads: Worker[] = []
    const note = (message: unknown): void => void threads.push((message as { worker: Worker }).worker)
    subscribe('worker_threads', note)
    const own = createTransformService(options)
    expect(own.render(transformationOf({ template: 'x', body: '' }))).not.toBeInstanceOf(Promise)
    expect(threads).toHaveLength(0)
    await own.render(transformationOf({ template: 'x', body: body() }))
    expect(threads).toHaveLength(1)
    const exit = once(threads[0] as Worker, 'exit')
    await own.close()
    await exit
    unsubscribe('worker_threads', note)
  })
})
