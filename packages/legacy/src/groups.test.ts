import { expect, test } from 'vitest'
import { type Clone, groupClones } from './groups.ts'

const clone = (id: string, tenant: string | null, more: Partial<Clone> = {}): Clone => ({
  id,
  tenant_id: tenant,
  clone_of: null,
  slug: 'web',
  name: 'Web',
  description: '',
  created_at: '2024-01-01',
  enabled: true,
  ...more,
})
const idsOf = (clones: Clone[]): string[][] =>
  groupClones(clones).map((group) => group.clones.map(({ id }) => id))

test.each([
  ['by their root', [clone('1', 'a'), clone('2', 'b', { clone_of: '1', slug: 'other' })], [['1', '2']]],
  [
    'over several steps',
    [clone('3', 'c', { clone_of: '2' }), clone('2', 'b', { clone_of: '1' }), clone('1', 'a')],
    [['1', '2', '3']],
  ],
  [
    'by a root that is gone',
    [clone('2', 'b', { clone_of: '9' }), clone('3', 'c', { clone_of: '9' })],
    [['2', '3']],
  ],
  ['in a circle', [clone('2', 'b', { clone_of: '3' }), clone('3', 'c', { clone_of: '2' })], [['2', '3']]],
  [
    'by their slug',
    [clone('1', 'a'), clone('2', 'b'), clone('3', 'c', { slug: 'api' })],
    [['1', '2'], ['3']],
  ],
  [
    'by the slug of a root',
    [clone('1', 'a'), clone('2', 'b', { clone_of: '1' }), clone('3', 'c')],
    [['1', '2', '3']],
  ],
  [
    'and not by a slug that two roots have',
    [
      clone('1', 'a'),
      clone('2', 'b', { clone_of: '1' }),
      clone('3', 'c'),
      clone('4', 'd', { clone_of: '3' }),
      clone('5', 'e'),
    ],
    [['1', '2'], ['3', '4'], ['5']],
  ],
  [
    'once per tenant',
    [clone('1', 'a'), clone('2', 'a', { clone_of: '1' }), clone('3', 'b', { clone_of: '1' })],
    [['1', '3'], ['2']],
  ],
  ['with a template', [clone('1', null), clone('2', 'a', { clone_of: '1' })], [['1', '2']]],
])('clones are found %s', (_how, clones, expected) => {
  expect(idsOf(clones)).toEqual(expected)
})

test('the oldest stands for clones without a root', () => {
  const clones = [clone('1', 'a', { created_at: '2024-02-01' }), clone('2', 'b')]
  expect(groupClones(clones)[0]?.canonical.id).toBe('2')
})
