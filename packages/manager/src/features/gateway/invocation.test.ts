import { describe, expect, test } from 'vitest'
import { readInvocation, appendQuery } from './invocation.pure.ts'

const id = '0191d1a0-7c1f-7a3e-9b2c-00a0b0c0d0e0'

describe('readInvocation', () => {
  test('[esb.raw-path] takes the target apart and changes nothing of path and query', () => {
    const read = (rest: string) => readInvocation(`/esb/${id}${rest}`)
    const of = (path: string, query = '') => ({ applicationId: id, path, query })
    expect(read('/orders')).toEqual(of('/orders'))
    expect(read('/')).toEqual(of('/'))
    expect(read('//a/../b/./%2F;x=\\/')).toEqual(of('//a/../b/./%2F;x=\\/'))
    expect(read('/a?b=1&c=%20')).toEqual(of('/a', 'b=1&c=%20'))
    expect(read('/a?')).toEqual(of('/a'))
    expect(read('/a??b?c')).toEqual(of('/a', '?b?c'))
    expect(readInvocation(`/esb/${id.toUpperCase()}/A`)).toEqual(of('/A'))
  })

  test('[esb.raw-path] any other text is no invocation', () => {
    for (const target of [
      '',
      '/',
      '/esb',
      '/esb/',
      `/esb/${id}`,
      `/esb/${id}?/a`,
      `/esb/${id}x/a`,
      `/esb/${id.slice(1)}/a`,
      `/esb/${id.replaceAll('-', '')}/a`,
      `/esb/{${id}}/a`,
      `/esb//${id}/a`,
      `/x/esb/${id}/a`,
      `esb/${id}/a`,
      `/esb%2f${id}/a`,
      `/esb/${id}%2fa`,
      `/esb/${id}/a#b`,
      `/esb/${id}/a?b#c`,
      `http://host/esb/${id}/a`,
      `/esb/${id}/a\n/b?c\n#`,
    ])
      expect([target, readInvocation(target)]).toEqual([target, null])
  })
})

test('[esb.target] withQuery appends a query to a query', () => {
  expect(appendQuery('/a', '')).toBe('/a')
  expect(appendQuery('/a?b', '')).toBe('/a?b')
  expect(appendQuery('/a', 'c=1')).toBe('/a?c=1')
  expect(appendQuery('/a?b', 'c=1')).toBe('/a?b&c=1')
  expect(appendQuery('https://host/a', '?')).toBe('https://host/a??')
})
