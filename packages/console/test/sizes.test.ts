// Tests which files the size check adds up, and which limits apply to them.
import { expect, test } from 'vitest'
import { listParts } from '../tools/sizes.ts'

test('the first load has the static imports of the page and one language, and every part on demand has its own limit', () => {
  const manifest = {
    'index.html': { file: 'index.js', isEntry: true as const, imports: ['_base.js'], css: ['index.css'] },
    '_base.js': { file: 'base.js', imports: ['index.html'], css: ['base.css'] },
    'tenants.tsx': {
      file: 'tenants.js',
      name: 'tenants-page',
      isDynamicEntry: true as const,
      imports: ['_base.js', '_table.js'],
      css: ['tenants.css', 'base.css'],
    },
    '_table.js': { file: 'table.js', name: 'table' },
    'src/texts/en.ts': { file: 'en.js', name: 'en', isDynamicEntry: true as const },
    'code-editor.tsx': { file: 'editor.js', name: 'code-editor', isDynamicEntry: true as const },
    'base.css': { file: 'base.css' },
  }
  expect(listParts(manifest)).toEqual([
    {
      name: 'first load (en)',
      files: ['index.js', 'index.css', 'base.js', 'base.css', 'en.js'],
      limitKb: 200,
    },
    { name: 'tenants-page', files: ['tenants.js', 'tenants.css'], limitKb: 30 },
    { name: 'table (shared)', files: ['table.js'], limitKb: 60 },
    { name: 'code-editor', files: ['editor.js'], limitKb: 100 },
  ])
})
