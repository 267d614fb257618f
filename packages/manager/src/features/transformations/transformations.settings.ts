import { boolean, oneOf, defineSetting } from '../../config/readers.ts'

export const transformationSettings = {
  esbTemplateBuiltins: defineSetting(boolean, {
    key: 'esb.template_builtins',
    env: 'SVC_ESB_TEMPLATE_BUILTINS',
    default: false,
    doc: 'Allows transformation templates to use the built-in functions of Go (`and or not eq ne lt le gt ge len index slice print printf println html js urlquery`) in addition to the seven ESB functions.',
  }),
  esbTemplateMissingKey: defineSetting(oneOf('default', 'error'), {
    key: 'esb.template_missing_key',
    env: 'SVC_ESB_TEMPLATE_MISSING_KEY',
    default: 'default',
    doc: 'Behavior if the body of a call lacks a key that the template reads. `default` renders `<no value>`. `error` fails the call with 500, even if the template only tests the key, as in `{{if .Data.x}}`.',
  }),
} as const
