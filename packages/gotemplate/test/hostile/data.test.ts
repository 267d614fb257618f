// Tests that templates can read only data.
import { describe, expect, test } from 'vitest'
import { TemplateError, parse } from '../../src/index.ts'

class Sneaky {
  secret = 'class field'
}
const sneaky = {
  plain: 'seen',
  get getter(): string {
    throw new Error('a getter ran')
  },
  set setter(_: string) {
    throw new Error('a setter ran')
  },
  [Symbol.toPrimitive]: () => 'symbol',
  nested: Object.create({ inherited: 'inherited' }, { own: { value: 'own', enumerable: true } }) as object,
}
Object.defineProperty(sneaky, 'hidden', { value: 'hidden', enumerable: false })

describe('nothing but data is reached', () => {
  const walks = [
    '.constructor',
    '.constructor.constructor',
    '.__proto__',
    '.__proto__.constructor',
    '.prototype',
    '.toString',
    '.valueOf',
    '.hasOwnProperty',
    '.__defineGetter__',
    '.__lookupGetter__',
    '.plain.constructor',
    '.plain.length',
    '.list.constructor',
    '.list.length',
    '.list.map',
    '(index .list 0).constructor',
    '(print "x").constructor',
    '(len .list).constructor',
    '.getter',
    '.setter',
    '.hidden',
    '$.constructor',
    '$.__proto__.polluted',
    '(index . "constructor")',
    '(index . "__proto__")',
    '(index . "getter")',
    '(index . "hidden")',
  ]
  /** Returns the output of a template, or the reason for its failure. */
  function outcome(template: string, object: unknown): string {
    try {
      return parse(template).execute(object)
    } catch (error) {
      if (error instanceof TemplateError) return error.reason
      throw error
    }
  }

  test.each(walks)('{{%s}} finds nothing', (walk) => {
    const { nested: _, ...properties } = Object.getOwnPropertyDescriptors(sneaky)
    const object = Object.defineProperties({ list: [1] }, properties)
    expect(outcome(`{{printf "%v" ${walk}}}`, object)).toMatch(/^<nil>$|^can't evaluate field/)
  })

  test('getters never run, and accessors, hidden and symbol properties are not there', () => {
    const names = parse('{{range $k, $v := .}}{{$k}} {{end}}|{{len .}}|{{.getter}}|{{.hidden}}')
    const { nested: _, ...visible } = Object.getOwnPropertyDescriptors(sneaky)
    expect(names.execute(Object.defineProperties({}, visible))).toBe('plain |1|<no value>|<no value>')
    const list = Object.defineProperty([1, 2], 1, { get: () => sneaky.getter, enumerable: true })
    expect(parse('{{.}} {{range .}}{{.}}{{end}} {{index . 1}}').execute(list)).toBe(
      '[1 <nil>] 1<no value> <no value>',
    )
  })

  test('holes of a list are nil, whatever a prototype has there', () => {
    const holes: unknown[] = []
    holes[2] = 'x'
    Reflect.set(Array.prototype, 1, 'inherited')
    try {
      expect(parse('{{.}}{{range .}}[{{.}}]{{end}}').execute(holes)).toBe(
        '[<nil> <nil> x][<no value>][<no value>][x]',
      )
    } finally {
      Reflect.deleteProperty(Array.prototype, 1)
    }
  })

  test('an object with a class or with a prototype of its own is refused', () => {
    for (const value of [
      new Sneaky(),
      sneaky.nested,
      new Date(0),
      /x/,
      new Error('x'),
      new Proxy(new Sneaky(), {}),
    ])
      expect(() => parse('{{.v}}').execute({ v: value })).toThrow(TemplateError)
  })

  test('names that JavaScript gives a meaning are keys like others', () => {
    const own = JSON.parse('{"__proto__":{"a":1},"constructor":"c","toString":2,"length":3}') as unknown
    expect(
      parse('{{.__proto__.a}} {{.constructor}} {{.toString}} {{.length}} {{len .}} {{.}}').execute(own),
    ).toBe('1 c 2 3 4 map[__proto__:map[a:1] constructor:c length:3 toString:2]')
    expect(Object.hasOwn(Object.prototype, 'a')).toBe(false)
  })

  test('a Proxy that throws ends the execution and nothing else', () => {
    const trap = (): never => {
      throw new SyntaxError('trapped')
    }
    const proxy = new Proxy({}, { getOwnPropertyDescriptor: trap, ownKeys: trap, getPrototypeOf: trap })
    for (const template of ['{{.a}}', '{{.}}', '{{range .}}{{end}}', '{{len .}}', '{{if .}}{{end}}'])
      expect(() => parse(template).execute(proxy)).toThrow(TemplateError)
  })

  test('data that contains itself is printed to a depth, then refused', () => {
    const loop: unknown[] = []
    loop.push(loop)
    expect(() => parse('{{.}}').execute(loop)).toThrow(/nested more than 500 levels deep/)
  })
})
