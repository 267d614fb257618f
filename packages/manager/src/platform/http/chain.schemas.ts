// The verdict on audit chains as exports and reports return it.
import { Type } from 'typebox'

const nullable = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Union([schema, Type.Null()])
const integerOrNull = (description: string) => nullable(Type.Integer({ description }))

export const chainSchema = Type.Object(
  {
    status: Type.Enum(['ok', 'broken', 'empty'], {
      description: 'Whether the rows are those that were written.',
    }),
    entries: Type.Integer({ description: 'How many rows were verified.' }),
    from_seq: integerOrNull('The first verified row of the chain; null for all chains together.'),
    to_seq: integerOrNull('The last verified row of the chain; null for all chains together.'),
    head_hash: nullable(Type.String({ description: 'The hash of that row; null for all chains together.' })),
    first_broken_seq: integerOrNull('The first row that is not as it was written.'),
    reason: nullable(Type.String({ description: 'What is wrong with it, or what is not verified yet.' })),
    checkpoint: nullable(
      Type.Object({
        size: Type.Integer({
          description: 'Rows of the chain that it seals; for all chains together, its number.',
        }),
        hash: Type.String({
          description: 'Of the last row that it seals; for all chains together, its own.',
        }),
        signature: Type.String({ description: 'Ed25519, base64.' }),
        keyId: Type.String(),
        created_at: Type.String({ format: 'date-time' }),
      }),
    ),
    verified_at: Type.String({ format: 'date-time' }),
  },
  { $id: 'AuditChain', description: 'The verdict on the chain of a project, or on all chains.' },
)
