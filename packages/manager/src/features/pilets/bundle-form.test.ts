import { expect, test } from 'vitest'
import { detectSpec, getStoredType } from './bundle-form.pure.ts'

test.each([
  ['application/javascript', 'x', 'application/javascript'],
  ['Text/JavaScript; charset=utf-8', 'x', 'text/javascript'],
  ['application/x-javascript', 'x.tgz', 'application/x-javascript'],
  ['application/x-gzip', 'x.js', 'application/x-gzip'],
  ['application/gzip', '', 'application/gzip'],
  ['text/html', 'index.html', 'application/octet-stream'],
  ['text/html', 'index.js', 'text/javascript'],
  ['image/svg+xml', 'index.mjs', 'text/javascript'],
  ['application/octet-stream', 'acme-menu-1.0.0.TGZ', 'application/gzip'],
  ['', 'bundle.gz', 'application/gzip'],
  ['text/javascript-x', 'bundle', 'application/octet-stream'],
  ['text/html, text/javascript', 'x.html', 'application/octet-stream'],
  ['', 'x.js.html', 'application/octet-stream'],
])('a file declared %s and named %s is stored as %s', (declared, fileName, stored) => {
  expect(getStoredType(declared, fileName)).toBe(stored)
})

test.each([
  ['//@pilet v:2(webpackJsonp,{})\nx', 'v2'],
  ['//@pilet v:3\n', 'v3'],
  ['//@pilet v:0', 'v0'],
  ['//@pilet v:123', 'v123'],
  ['//@pilet v:1234', 'v2'],
  ['//@pilet v:x', 'v2'],
  [' //@pilet v:3', 'v2'],
  ['x\n//@pilet v:3', 'v2'],
  ['', 'v2'],
])('the specification of %j is %s', (text, spec) => {
  expect(detectSpec(Buffer.from(text))).toBe(spec)
})
