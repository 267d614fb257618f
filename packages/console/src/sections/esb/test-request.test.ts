import { expect, test } from 'vitest'
import { createTestRequest, parseHeaders, toTestInput } from './test-request.ts'

test('each line is a header, and empty lines are ignored', () => {
  expect(parseHeaders('Accept: text/xml\n\n X-Time:  10:30 \r\nX-Empty:')).toEqual({
    headers: [
      { name: 'Accept', value: 'text/xml' },
      { name: 'X-Time', value: '10:30' },
      { name: 'X-Empty', value: '' },
    ],
    wrongLine: null,
  })
  expect(parseHeaders(' \n')).toEqual({ headers: [], wrongLine: null })
})

test('a line that is not a header is reported by its number', () => {
  expect(parseHeaders('Accept: a\nno colon\n: b').wrongLine).toBe(2)
  expect(parseHeaders(': b').wrongLine).toBe(1)
  expect(parseHeaders('X Y: b').wrongLine).toBe(1)
})

test('empty fields, and the body of a method without body, are not sent', () => {
  const request = createTestRequest('SOAP', '<a/>', null)
  expect(toTestInput(request, 'm')).toEqual({
    machineUserId: 'm',
    method: 'POST',
    headers: [{ name: 'Content-Type', value: 'text/xml; charset=utf-8' }],
    body: '<a/>',
  })
  expect(toTestInput({ ...request, method: 'GET', query: 'a=1', headers: '' }, 'm')).toEqual({
    machineUserId: 'm',
    method: 'GET',
    query: 'a=1',
  })
})
