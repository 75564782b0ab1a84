// Drives the gateway with the types that openapi-typescript generates from the
// OpenAPI 3.1 documents of both dialects, through openapi-fetch.
import assert from "node:assert/strict";
import { test } from "node:test";
import createClient from "openapi-fetch";
import type { paths as Classic } from "./testdata/classic.js";
import type { paths as Standard } from "./testdata/standard.js";

const baseUrl = process.env["GATEWAY_URL"]!;
const headers = (token: string | undefined) => ({ "Auth-Token": `Bearer ${token}` });
const standard = createClient<Standard>({ baseUrl, headers: headers(process.env["GATEWAY_TOKEN"]) });
const classic = createClient<Classic>({ baseUrl, headers: headers(process.env["GATEWAY_CLASSIC_TOKEN"]) });

test("a user", async () => {
  const path = { Username: "ts.user" };
  const created = await standard.POST("/api/ADUser/{Username}", {
    params: { path },
    body: { FirstName: "Jörg", LastName: "O'Neil", Password: "Corr3ct-Horse" },
  });
  assert.equal(created.response.status, 201);
  assert.equal(created.data?.result[0]?.firstName, "Jörg");

  const again = await standard.POST("/api/ADUser/{Username}", { params: { path }, body: {} });
  assert.equal(again.response.status, 409);
  assert.equal(again.error?.error.code, "conflict");

  const read = await standard.GET("/api/ADUser/{Username}/Details", { params: { path, query: { ShowFields: "username,enabled" } } });
  assert.deepEqual(read.data?.result, [{ username: "ts.user", enabled: true }]);

  const updated = await standard.PUT("/api/ADUser/{Username}", { params: { path }, body: { JobTitle: "Clerk", FirstName: "" } });
  assert.equal(updated.data?.result[0]?.jobTitle, "Clerk");
  assert.equal(updated.data?.result[0]?.firstName, null);

  const list = await standard.GET("/api/ADUser/ListUsers/All");
  assert.ok(list.data?.result.some((user) => user.username === "ts.user"));

  const refused = await standard.PUT("/api/ADUser/{Username}", { params: { path }, body: { Country: "Atlantis" } });
  assert.equal(refused.response.status, 400);
  assert.equal(refused.error?.error.details[0]?.field, "Country");

  const deleted = await standard.DELETE("/api/ADUser/{Username}", { params: { path } });
  assert.equal(deleted.response.status, 200);
  const gone = await standard.GET("/api/ADUser/{Username}/Details", { params: { path } });
  assert.equal(gone.error?.error.code, "not_found");
});

test("a group", async () => {
  const path = { GroupName: "ts-group" };
  const created = await standard.POST("/api/ADGroups/{GroupName}/Security", { params: { path }, body: { GroupScope: "Universal" } });
  assert.equal(created.response.status, 201);
  const read = await standard.GET("/api/ADGroups/{GroupName}", { params: { path } });
  assert.equal(read.data?.result[0]?.scope, "Universal");
  const renamed = await standard.PUT("/api/ADGroups/{GroupName}/Rename/{NewGroupName}", {
    params: { path: { ...path, NewGroupName: "ts-team" } },
    body: {},
  });
  assert.equal(renamed.data?.result[0]?.name, "ts-team");
  const list = await standard.GET("/api/ADGroups/All");
  assert.ok((list.data?.result.length ?? 0) > 1);
  const refused = await standard.POST("/api/ADGroups/{GroupName}/Security", { params: { path: { GroupName: "a/b" } }, body: {} });
  assert.equal(refused.response.status, 400);
  const deleted = await standard.DELETE("/api/ADGroups/{GroupName}/Remove", { params: { path: { GroupName: "ts-team" } } });
  assert.equal(deleted.response.status, 200);
});

test("a CNAME", async () => {
  const record = { DNS_HostName: "ts-alias", DNS_HostName_Alias: "web1.corp.example", ZoneName: "corp.example" };
  const created = await standard.POST("/api/DnsCNameRecord", { body: record });
  assert.equal(created.response.status, 201);
  const again = await standard.POST("/api/DnsCNameRecord", { body: record });
  assert.equal(again.response.status, 409);
  const read = await standard.GET("/api/DnsCNameRecord", { params: { query: record } });
  assert.equal(read.data?.result[0]?.data, "web1.corp.example");
  const list = await standard.GET("/api/DnsCNameRecord/{ZoneName}", { params: { path: { ZoneName: "corp.example" } } });
  assert.ok(list.data?.result.some((each) => each.name === "ts-alias"));
  const refused = await standard.POST("/api/DnsCNameRecord", { body: { ...record, DNS_HostName: "a b" } });
  assert.equal(refused.error?.error.details[0]?.field, "DNS_HostName");
  const deleted = await standard.DELETE("/api/DnsCNameRecord", { params: { query: record } });
  assert.equal(deleted.response.status, 200);
});

test("the classic dialect", async () => {
  const path = { Username: "ts.classic" };
  const created = await classic.POST("/api/ADUser/{Username}", { params: { path }, body: { LastName: "Meier", Country: "DE" } });
  assert.equal(created.response.status, 200);
  const read = await classic.GET("/api/ADUser/{Username}/Details", { params: { path } });
  assert.equal(read.data?.result.country, "Germany");
  const deleted = await classic.DELETE("/api/ADUser/{Username}", { params: { path } });
  assert.equal(deleted.response.status, 200);
});
