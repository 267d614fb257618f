// Tests the pages, links, navigation and Content Security Policy of the site.
import { expect, test } from 'vitest'
import { makeAddressesRelative } from '../src/addresses.ts'
import { addContentPolicy } from '../src/content-policy.ts'
import { listDiagrams } from '../src/diagrams.ts'
import { resolveLink, pages } from '../src/pages.ts'
import { type Item, readSidebar } from '../src/sidebar.ts'

const noFile = (source: string): never => {
  throw new Error(`${source} is a page`)
}

test('links between pages stay relative, and those that leave docs/ lead to their copies', () => {
  expect(resolveLink('start/run-the-demo.md', '../reference/errors.md#what-does-503-mean', noFile)).toBe(
    '../reference/errors.md#what-does-503-mean',
  )
  expect(resolveLink('index.md', '../CONTRIBUTING.md', noFile)).toBe('./project/contributing.md')
  expect(resolveLink('project/contributing.md', 'docs/index.md', noFile)).toBe('../index.md')
  expect(resolveLink('index.md', 'https://example.com/', noFile)).toBe('https://example.com/')
  const files: string[] = []
  expect(
    resolveLink('start/call-a-partner.md', '../../examples/backend.ts', (file) => files.push(file)),
  ).toBe('/files/examples/backend.ts')
  expect(files).toEqual(['examples/backend.ts'])
})

const linksOf = (items: readonly Item[]): string[] =>
  items.flatMap(({ link, items: inner = [] }) => [...(link === undefined ? [] : [link]), ...linksOf(inner)])

test('the navigation shows every page but history', () => {
  const shown = new Set(linksOf(readSidebar()).map((link) => link.replace(/^\//, '').split('#')[0]))
  const hidden = [...pages.values()].filter(
    (page) => !shown.has(page) && !/^(decisions|project|reference\/permissions)\//.test(page),
  )
  expect(hidden).toEqual(['index.md'])
})

test('scripts of a page are in its policy by their hash, and no other one runs', () => {
  const html = '<meta charset="utf-8"><script src="/a.js"></script><script id="x">let a = 1</script>'
  const policy = /content="([^"]+)"/.exec(addContentPolicy(html))?.[1] ?? ''
  expect(policy).toMatch(/script-src 'self' 'sha256-[\w+/=]+';/)
  expect(/script-src [^;]+/.exec(policy)?.[0].match(/sha256-/g)).toHaveLength(1)
  expect(policy).toContain("default-src 'none'")
})

test('addresses are relative to the page', () => {
  const html = '<a href="/"></a><a href="/#guides"></a><script src="/a.js"></script><a href="https://x/"></a>'
  expect(makeAddressesRelative(html, 'guides/backends/a.md')).toBe(
    '<a href="../../index.html"></a><a href="../../index.html#guides"></a><script src="../../a.js"></script><a href="https://x/"></a>',
  )
  expect(makeAddressesRelative(html, 'index.md')).toContain('<a href="./index.html"></a>')
})

test('diagrams are found in a text, other blocks are not', () => {
  expect(listDiagrams('# A\n\n```mermaid\nflowchart LR\n  a --> b\n```\n\n```sh\nls\n```\n')).toEqual([
    'flowchart LR\n  a --> b\n',
  ])
})
