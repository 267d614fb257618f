// These tests cover malformed bodies that a misbehaving partner or an attacker could use to evade redaction.
// In every case, `s3cr3t` and `h1dden` are parts of the secret, and `kept` is not.
import { describe, expect, test } from 'vitest'
import { redactBody, redactHeaders, redactUrl } from './redact.pure.ts'

const show = (
  body: string,
  contentType: string | null = null,
  totalBytes = Buffer.byteLength(body),
): string => redactBody(Buffer.from(body), { totalBytes, contentType, contentEncoding: null })

function expectSafe(body: string, type: string | null, isParsed: boolean): void {
  const shown = show(body, type)
  expect(shown).not.toMatch(/s3cr3t|h1dden/)
  const isLength = shown === `[${type ?? 'text'}, ${Buffer.byteLength(body)} bytes]`
  expect(isLength).toBe(!isParsed)
  expect(shown.includes('kept')).toBe(isParsed && body.includes('kept'))
}

const json = JSON.stringify
const deep = (levels: number, inner: string): string => {
  let text = inner
  for (let level = 0; level < levels; level++) text = json({ a: text, b: 'kept' })
  return text
}

const jsonCases: Record<string, string> = {
  'a key with escaped letters': '{"a":"kept","pass\\u0077ord":"s3cr3t"}',
  'a key with escaped separators and other case': '{"a":"kept","A\\u0050I\\t-\\u005fKey ":"s3cr3t"}',
  'a key in full width letters': '{"a":"kept","ｐａｓｓｗｏｒｄ":"s3cr3t"}',
  'a key with invisible characters': '{"a":"kept","pass\u00ad\u200bword":"s3cr3t"}',
  'a key that is a path': '{"a":"kept","user.password":"s3cr3t","$.x[0].pin":"h1dden"}',
  'a number': '{"a":"kept","pin":31337,"token":-1.5e3,"secret":null}',
  'a subtree with everything in it': '{"token":{"a":["s3cr3t",{"b":"h1dden}]\\""}]},"b":"kept"}',
  'a document in a secret': json({ a: 'kept', password: json({ pin: 's3cr3t', b: 'h1dden' }) }),
  'a form in a secret': json({ a: 'kept', b: ['token', 'pin=s3cr3t&c=h1dden'] }),
  'a document in a named value': json({
    a: 'kept',
    b: { value: json({ pin: 1, c: 's3cr3t' }), name: 'pin' },
  }),
  'a document in a patched value': json([
    { a: 'kept' },
    { path: '/pin', value: json({ pin: 1, c: 's3cr3t' }) },
  ]),
  'a duplicate key': '{"token":"s3cr3t","token":"h1dden","b":"kept"}',
  'brackets and quotes in a string': '{"a":"kept }]\\"{[","password":"s3cr3t}\\",\\"x\\":\\"h1dden"}',
  'a line break in a string': '{"a":"kept","password":"s3cr3t\nh1dden"}',
  'single quotes': "{'a':'kept','password':'s3cr3t h1dden'}",
  'no quotes': '{a: kept,\npassword: s3cr3t, h1dden}',
  'no quotes, an object': '{a: kept, password: {x: s3cr3t,\n y: h1dden}}',
  'a trailing comma': '{"a":"kept","password":"s3cr3t",}',
  'several documents': '{"a":"kept"}\n{"password":"s3cr3t"}\n\x1e{"pin":"h1dden"}',
  'documents without anything between': '{"a":"kept"}{"password":"s3cr3t"}[]{"pin":"h1dden"}',
  'a document behind a prefix': ')]}\',\n{"a":"kept","password":"s3cr3t"}',
  'a document in a call': '/**/callback({"a":"kept","token":{"x":"s3cr3t"}});',
  'a document in a log line': '10:00 kept {"a":1} sent {"value":"s3cr3t","name":"password"}',
  'a stream of events': 'event: kept\ndata: {"password":\ndata: "s3cr3t h1dden"}\n',
  'members without an object': '"a":"kept","password":"s3cr3t h1dden"',
  'a byte order mark': '\ufeff{"a":"kept","password":"s3cr3t"}',
  'a name and a value': '[{"name":"password","value":"s3cr3t"},{"name":"x","value":"kept"}]',
  'a value and a name': '[{"value":"s3cr3t","newValue":"h1dden","key":"API-Key"},{"key":"x","value":"kept"}]',
  'a field and what it was':
    '{"a":"kept","changes":[{"field":"password","from":"s3cr3t","to":{"x":"h1dden"}}]}',
  'a list of a name and a value': '{"headers":[["Authorization","s3cr3t"],["Accept","kept"]]}',
  'raw headers': '{"headers":["Accept","kept","Cookie","s3cr3t"]}',
  'a patch':
    '[{"op":"replace","path":"/user/password","value":"s3cr3t"},{"op":"add","path":"/x","value":"kept"}]',
  'a query of GraphQL':
    '{"a":"kept","query":"mutation { login(user: \\"x\\", password: \\"s3cr3t\\") { id } }"}',
  'a query of GraphQL alone': '{ login(user: "kept", password: "s3cr3t h1dden") { id } }',
  'a document in a string': json({ a: 'kept', b: json({ password: 's3cr3t', c: json({ pin: 'h1dden' }) }) }),
  'XML in a string': json({ a: 'kept', b: '<x><password a="h1dden">s3cr3t</password></x>' }),
  'a form in a string': json({ a: 'kept', b: 'c=kept&pass%77ord=s3cr3t+h1dden&d=kept' }),
  'escaped JSON in a string': json({ a: 'kept', b: '%7B%22password%22%3A%22s3cr3t%22%7D' }),
  'escaped XML in a string': json({
    a: 'kept',
    b: '&amp;lt;password&amp;gt;s3cr3t&amp;lt;/password&amp;gt;',
  }),
  'an address in a string': json({ a: 'kept', b: 'https://user:s3cr3t@h/?token=h1dden&c=d' }),
  'a header in a string': json({ a: 'kept', b: 'Authorization: Digest s3cr3t, h1dden' }),
  'a credential in a string': json({ a: 'kept', b: 'sent Bearer s3cr3t and basic  h1dden' }),
  'a private key in a string': json({
    a: 'kept',
    b: '-----BEGIN RSA PRIVATE KEY-----\ns3cr3t\n-----END RSA PRIVATE KEY-----',
  }),
  'deeper than is looked': deep(8, json({ password: 's3cr3t' })),
  'deeper than anybody nests': `{"b":"kept","a":${'['.repeat(3_000)}{"password":"s3cr3t","c":{"value":"h1dden","name":"pin"}}`,
}

// In these bodies, only the text after the secret shows where the secret ends.
const brokenCases: Record<string, string> = {
  'a quote that should be escaped': '{"a":"kept","password":"s3cr3t"h1dden","b":"x"}',
  'a quote and a comma that should be escaped': '{"a":"kept","password":"s3cr3t","h1dden"}',
  'a quote, a comma and a colon that should be escaped':
    '{"a":"kept","password":"s3cr3t","h1dden":"h1dden"x"}',
  'an end that should be escaped': '{"a":"kept","password":"s3cr3t"} h1dden"}',
  'no value': '{"a":"kept","password":,"b":"h1dden"}',
  'no colon': '{"a":"kept","password" "s3cr3t"}',
  'a comment between key and value': '{"a":"kept","password" /* c */ : /* d */ "s3cr3t"}',
  'a value that is not JSON': '{"a":"kept","password":s3cr3t h1dden,"b":1}',
  'wrong brackets in the value': '{"a":"kept","password":[{"x":"s3cr3t"]},"b":"h1dden"}',
  'an end tag in another case': '<a>kept<Password>s3cr3t</password>h1dden</a>',
  'an end tag too many': 'kept<a><password>s3cr3t</password>h1dden</password></a>',
  'tags that do not fit behind a secret': 'kept<a><pin>s3cr3t</pin><b>h1dden</c></a>',
  'a wrong end tag inside': '<a>kept<password><b>s3cr3t</c>h1dden</password></a>',
  'a broken start tag': '<a><b>kept</b><c><password"x>s3cr3t</c></a>',
  'a start tag without an end': '<a><b>kept</b><c><d/>password>s3cr3t</password></c></a>',
  'an attribute that is not closed':
    '<a><b>kept</b><c d="x><password>s3cr3t</password><e f="x" token="h1dden">',
}

const xmlCases: Record<string, string> = {
  'a prefix': '<e:a xmlns:e="urn:x"><b>kept</b><e:Pass-Word>s3cr3t</e:Pass-Word></e:a>',
  'more than one colon': '<a><b>kept</b><x:y:password>s3cr3t</x:y:password></a>',
  'a prefix that is a sensitive word': '<token:a>kept</token:a>',
  CDATA: '<a>kept<password><![CDATA[s3cr3t</password>h1dden]]></password></a>',
  'a comment, an instruction and elements inside':
    '<a>kept<pin><!-- s3cr3t --><?x h1dden?><b c="s3cr3t">h1dden</b></pin></a>',
  'a comment elsewhere': '<a>kept<!-- password is s3cr3t --><b/><!-- h1dden',
  'an instruction elsewhere': '<a>kept<?pay password="s3cr3t h1dden"?></a>',
  'a document type that declares texts':
    '<b>kept</b><!DOCTYPE a [<!ENTITY p "s3cr3t">]><a><password>&p;</password></a>',
  'a document in a secret': '<a>kept<password>{"pin":"s3cr3t","b":"h1dden"}</password></a>',
  'a document in a named value': '<m>kept<x key="pin" b="pin=1&amp;c=s3cr3t">{"pin":1,"c":"h1dden"}</x></m>',
  'the same element inside': '<a>kept<token><token>s3cr3t</token>h1dden</token></a>',
  'attributes of a sensitive element': '<a>kept<password value="s3cr3t" x=\'h1dden\'/></a>',
  'an attribute without quotes': '<a b=kept password=s3cr3t c=d>kept</a>',
  'blanks around the sign of an attribute': '<a b="kept" password\n = \n"s3cr3t">kept</a>',
  'signs in an attribute': '<a b="kept > <" password="s3cr3t > h1dden" c=\'"\' token=\'h1dden\'/>',
  'an entry by its key':
    '<m><entry key="pass&#119;ord">s3cr3t<b>h1dden</b></entry><entry key="x">kept</entry></m>',
  'a parameter by its name': '<m><param value="s3cr3t" name="user.token"/><param name="x" value="kept"/></m>',
  'a member by its name':
    '<m><x><name>password</name><value><string>s3cr3t</string></value></x><x><name>y</name><value>kept</value></x></m>',
  'a member with its name at the end':
    '<m><x><value>s3cr3t</value><name><![CDATA[pin]]></name></x><x>kept</x></m>',
  'a property list': '<dict><key>password</key><string>s3cr3t</string></dict><dict>kept</dict>',
  'a page with a field': '<p>kept<br><p><form><input name="password" value="s3cr3t"><br>h1dden</form>',
  'a page with a text': '<p>kept</p><p>Your password: <b>s3cr3t</b></p><td><b>PIN:</b> h1dden</td>',
  'text that only begins like XML': '<3 kept password: s3cr3t',
  'an end tag first': '</x>kept<password>s3cr3t</password>',
  'text in front': 'kept <password>s3cr3t</password>',
  'a property list with one root':
    '<plist><dict><key>password</key><string>s3cr3t</string></dict><dict>kept</dict></plist>',
  'escaped signs in an attribute': '<a b="kept > &lt;" password="s3cr3t > h1dden" c=\'"\' token=\'h1dden\'/>',
  'a well-formed page with a text':
    '<div><p>kept</p><p>Your password: <b>s3cr3t</b></p><p><b>PIN:</b> h1dden</p></div>',
  'a well-formed page with a table': '<table><tr>kept</tr><tr><td>Password:</td><td>s3cr3t</td></tr></table>',
  'a document type without texts': '<!DOCTYPE a><a>kept<password>s3cr3t</password></a>',
  'a table in an attribute': '<a b="user;password\nx;s3cr3t">kept</a>',
  'a document in an element': `<a>kept<b>{"password":"s3cr3t"}</b><c>&lt;pin&gt;h1dden&lt;/pin&gt;</c></a>`,
  'a document in pieces': '<a>kept<b>{"pass<![CDATA[word":"s3c]]><!-- -->r3t","x":"y"}</b></a>',
  'a document in an attribute': '<a b="kept" c="{&quot;password&quot;:&quot;s3cr3t&quot;}"/>',
}

const formCases: Record<string, string> = {
  'an escaped key': 'a=kept&pass%77ord=s3cr3t&p%49n=h1dden&b=kept',
  'a key escaped in another way': 'a=kept&pass%u0077ord=s3cr3t&+api+key+=h1dden',
  'a key of parts': 'a=kept&u[0][password][]=s3cr3t&a.b.token.c=h1dden',
  'signs in the value': 'a=kept&password=s3cr3t=h1dden;h1dden?h1dden#h1dden "h1dden\nh1dden&b=kept',
  'an escaped separator': 'a=kept%26password%3Ds3cr3t%2520h1dden',
  'a semicolon as a separator': 'a=kept;password=s3cr3t h1dden',
  'an escaped ampersand': 'a=kept&amp;password=s3cr3t&amp;b=x',
  'a name and a value': 'name=password&value=s3cr3t&note=kept',
  'a value and a name, in a list': 'p[0][value]=s3cr3t&p[0][name]=pin&note=kept',
  'JSON in a value': 'a=kept&b={"password":"s3cr3t%26h1dden"}&c=%5B%7B%22pin%22%3A%22h1dden%22%7D%5D',
  'escaped JSON in a value':
    'a=kept&b=%7B%22password%22%3A%22s3cr3t%26h1dden%22%7D&c=%5B%7B%22pin%22%3A1%7D%5D',
  'escaped signs in the value': 'a=kept&password=s3cr3t=h1dden;h1dden?h1dden#h1dden%20%22h1dden&b=kept',
  'a document in a secret': 'a=kept&password=%7B%22pin%22%3A1%2C%22b%22%3A%22s3cr3t%22%7D',
  'a document in a named value': 'a=kept&value=%7B%22pin%22%3A1%2C%22b%22%3A%22s3cr3t%22%7D&name=pin',
  'a name of several parts': 'a=kept&b:name=pin&b:value=s3cr3t',
  'a list behind a sign': 'a=kept&b=c%3D%5B%22pin%22%2C%22s3cr3t%22%5D',
  'an ampersand that should be escaped': 'a=kept&password=x&s3cr3t&h1dden&pin=x&#115;3cr3t=h1dden&b=kept',
  'a pair without a sign': 'a=kept&password:s3cr3t',
  'XML in a value': 'a=kept&b=%3Cpassword%3Es3cr3t%3C%2Fpassword%3E',
  'JSON with signs of forms behind it': 'x=kept {"a":"b&c","password":"s3cr3t&h1dden"}',
}

const textCases: Record<string, string> = {
  'lines of keys and values': 'note: kept\npassword: s3cr3t, h1dden\nAPI Key = s3cr3t\nend: kept',
  'keys in prose': 'kept, the card number: s3cr3t h1dden',
  'a value on the next line': 'note: kept\npassword:\n  s3cr3t\n  h1dden\nend: kept',
  'a block of YAML': 'a:\n  b: kept\n  password: |\n    s3cr3t\n\n    h1dden\n  c: kept\n',
  'a list of YAML': 'a: kept\ntoken:\n- s3cr3t\n- h1dden\n',
  'a continued line': 'a=1 kept\npassword=s3cr3t\\\nh1dden\nb=kept',
  'an aligned table of settings': 'user                : kept\npassword            : s3cr3t',
  'quotes that are not closed': 'kept password: "s3cr3t\nh1dden',
  'quotes around lines': 'kept password="s3cr3t\nh1dden" and more',
  'quotes with quotes in them': 'kept password: "s3cr3t"h1dden" x',
  'an escaped key': 'kept pass\\u0077ord: s3cr3t\npass%77ord: h1dden\np&#105;n: s3cr3t',
  'a message of HTTP':
    'GET /kept?token=s3cr3t&a=b HTTP/1.1\nAuthorization: Bearer s3cr3t\nCookie: h1dden=1\n',
  'signs of a query in prose': 'kept, see ?password = s3cr3t\nand &pin "= h1dden',
  'an escaped pair in prose': 'kept: see &password%3Ds3cr3t and ?x&pin&#61;h1dden',
  'a table with a head': 'user;password\nx;s3cr3t\n',
  'a quoted table with a head': '"user","Card Number"\n"x","s3cr3t"\n',
  'a private key': 'kept\n-----BEGIN PRIVATE KEY-----\ns3cr3t\nh1dden',
  'a command': 'kept: curl -H "Authorization: Basic s3cr3t" https://x:h1dden@h/',
  'parts of a form behind something else':
    'x\r\n--x\r\nContent-Disposition: form-data; name="a_long_name_of_many_words[password]"\r\n\r\ns3cr3t',
  'parts of a form without a form':
    'kept\r\n--x\r\nContent-Disposition: form-data; name="password"\r\n\r\ns3cr3t',
}

const groups = {
  JSON: jsonCases,
  XML: xmlCases,
  forms: formCases,
  text: textCases,
  'broken text': brokenCases,
}
const allBodies = Object.values(groups).flatMap((cases) => Object.values(cases))

// Only the type and the length of these bodies are shown: they are not JSON, well-formed XML or an encoded form.
const notParsed: Record<string, readonly string[]> = {
  JSON: [
    'a line break in a string',
    'single quotes',
    'no quotes',
    'no quotes, an object',
    'a trailing comma',
    'a document behind a prefix',
    'a document in a call',
    'a document in a log line',
    'a stream of events',
    'members without an object',
    'a query of GraphQL alone',
    'deeper than anybody nests',
  ],
  XML: [
    'a comment elsewhere',
    'a document type that declares texts',
    'an attribute without quotes',
    'signs in an attribute',
    'a property list',
    'a page with a field',
    'a page with a text',
    'text that only begins like XML',
    'an end tag first',
    'text in front',
  ],
  forms: [
    'signs in the value',
    'a semicolon as a separator',
    'JSON in a value',
    'JSON with signs of forms behind it',
  ],
  text: Object.keys(textCases),
  'broken text': Object.keys(brokenCases),
}

describe.each(Object.entries(groups))('%s', (group, cases) => {
  test.each(Object.entries(cases))('[esb-audit.redact-scope] %s', (name, body) => {
    const isParsed = notParsed[group]?.includes(name) !== true
    for (const type of [
      null,
      'application/json',
      'text/xml',
      'application/x-www-form-urlencoded',
      'image/png',
    ])
      expectSafe(body, type, isParsed)
  })
})

describe('inside of something that is parsed', () => {
  const inXml = (text: string): string =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
  const part = (content: string): string =>
    `--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n${content}\r\n--x--`

  test.each<[string, (body: string) => string]>([
    ['a string', (body) => show(json({ a: 'kept', b: body }))],
    ['a string in a string', (body) => show(json({ a: 'kept', b: json({ c: json(body) }) }))],
    ['a key', (body) => show(json({ a: 'kept', [body]: 1 }))],
    ['an element', (body) => show(`<a><c>kept</c><b>${inXml(body.replaceAll('\x1e', ''))}</b></a>`)],
    ['an attribute', (body) => show(`<a b="${inXml(body.replaceAll('\x1e', ''))}">kept</a>`)],
    ['a value of a form', (body) => show(`a=kept&b=${encodeURIComponent(body)}`)],
    ['a part', (body) => `kept${show(part(body))}`],
    ['a header', (body) => `kept${redactHeaders(['x-note', body])[0]?.value ?? ''}`],
    ['a query', (body) => redactUrl(`/kept?a=${encodeURIComponent(body)}`)],
  ])('[esb-audit.redact-scope] all of these are hidden too: %s', (_, showInside) => {
    for (const body of allBodies) {
      const shown = showInside(body)
      expect(shown).not.toMatch(/s3cr3t|h1dden/)
      expect(shown).toContain('kept')
    }
  })
})

test('[esb-audit.redact-scope] a byte order mark that is not at the start does not move what is hidden', () => {
  const document = '{"cvv":421,"password":"421"}'
  for (const body of [
    ` \ufeff${document}`,
    `\ufeff\ufeff${document}`,
    `\x1e\ufeff${document}`,
    `{\ufeff${document.slice(1)}`,
    `[\ufeff${document}]`,
    json({ a: ` \ufeff${document}` }),
  ])
    for (const type of [null, 'application/json']) expect(show(body, type)).not.toMatch(/[421]"?[,}]/)
})

test('[esb-audit.redact-scope] no beginning of any of these shows a secret, unless it is broken further on', () => {
  for (const cases of [jsonCases, xmlCases, formCases, textCases])
    for (const body of Object.values(cases).filter(({ length }) => length < 500))
      for (let length = 0; length < body.length; length++)
        expect(show(body.slice(0, length), null, 100_000)).not.toMatch(/s3cr3t|h1dden/)
})

test('[esb-audit.redact-scope] a name that is cut in the middle of an escape hides the value before it', () => {
  for (const half of ['&', '&#', '&#1', '&#111', '%', '%6'])
    for (const text of [
      `<item>note=count.value%3Ds3cr3t%26count%255Bid%255D%3Dauthorizati${half}`,
      `a=b&count.value=s3cr3t&count[id]=authorizati${half}`,
    ])
      expect(show(text, null, text.length + 20)).not.toContain('s3cr3t')
})
