"""Classes of files by their path: tests, examples, vendored and generated files."""

import pytest

from cortex.terms.paths import (
    asks_for_build,
    asks_for_build_alone,
    asks_for_records,
    asks_for_tests,
    has_generated_name,
    is_build,
    is_built,
    is_built_copy,
    is_example,
    is_foreign,
    is_record,
    is_test,
    is_unasked_copy,
    page_of,
    path_traits,
    superseded,
    vendored_folder,
)


@pytest.mark.parametrize(
    "path",
    [
        "tests/a.py", "Tests/AppTests/A.swift", "a/__mocks__/b.js", "src/test_a.py", "a/foo_test.go", "x/app.spec.ts",
        "x/conftest.py", "src/FooTest.java", "src/FooTests.cs", "src/FooSpec.scala", "src/TestFoo.java",
        "a/CacheIT.java", "a/trace_mock.rs", "a/b_unittest.cc", "src/tests.rs", "bin/test", "a/b/c/test.rs",
        "spec/models/user.rb", "packages/a/spec/support/user.rb", "mocks/store.go", "fixtures/loader.py",
        "src/fixtures/users.json", "src/main/window.spec.ts", "src/main/__tests__/window.test.ts", "src/app/user.spec.ts",
        "core/src/commonTest/kotlin/Disk.kt", "app/src/testFixtures/java/Disk.java", "src/fs/mocks.rs", "src/test-disk.c",
    ],
)  # fmt: skip
def test_tests_are_known_by_their_path(path):
    assert is_test(path)


@pytest.mark.parametrize(
    "path",
    [
        "src/contest.py", "src/latest/a.py", "a/testing.py", "a/attest.go", "a/LatestNews.java", "a/SpecialOffer.java",
        "a/EXIT.java", "a/GIT.py", "a/AuditIT.py", "a/mockingbird.py", "",
        ".github/workflows/test.yml", "docs/unit-tests.md", "test.toml", "specs/search.md", "spec/openapi.yaml",
        "src/main/java/org/x/MockHandlerImpl.java", "src/main/java/x/test/Client.java", "laws/src/main/scala/x/FunctorTests.scala",
        "src/MockSettings.java", "x/mock_store.go", "src/mock/server.go", "src/fixtures/loader.py", "internal/spec/openapi.go",
        "api/spec.go", "a/SecretKeySpec.java", "a/pod_spec.go", "src/test-runner.ts", "a/TestServer.cs", "runtime/runners/test.ts",
        "cmd/go/test.go", "a/_transports/mock.py",
    ],
)  # fmt: skip
def test_lookalikes_of_tests_are_no_tests(path):
    assert not is_test(path)


def test_examples_are_known_by_a_folder_or_their_own_name():
    assert is_example("examples/a.py")
    assert is_example("src/Demo/a.cs")
    assert is_example("src/benchmark.rs")
    assert not is_example("src/samplers/a.py")


def test_copies_of_other_projects_are_known_by_a_folder_of_any_case():
    assert vendored_folder("web/Third_Party/x/a.c") == "Third_Party"
    assert vendored_folder("a/node_modules/b/c.js") == "node_modules"
    assert not vendored_folder("src/vendor.py")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("api/user_pb2.py", True), ("api/user.pb.go", True), ("k8s/zz_generated.deepcopy.go", True),
        ("ui/Form.Designer.cs", True), ("a/schema.gen.ts", True), ("a/generated.py", False), ("a/pb.go", False),
    ],
)  # fmt: skip
def test_generated_files_are_known_by_their_name(path, expected):
    assert has_generated_name(path) is expected
    assert is_foreign(path) is expected


def test_copies_of_other_projects_are_foreign():
    assert is_foreign("vendor/x/a.go")
    assert not is_foreign("src/vendor.go")


@pytest.mark.parametrize("path", ["dist/a.js", "src/jquery.min.js", "deps/lua/lapi.c", "Build/a.h"])
def test_built_or_fetched_files_are_known_by_their_folder_or_as_minified(path):
    assert is_built(path)
    assert not is_foreign(path)


@pytest.mark.parametrize(
    "path", ["packages/x/src/core/build/index.ts", "test/units/build/plan.test.ts", "internal/out/a.go"]
)
def test_code_below_a_folder_of_sources_or_tests_is_not_built(path):
    assert not is_built(path)
    assert not is_built_copy(path)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("dist/a.js", True), ("packages/x/dist/a.mjs", True), ("build/lib/a.py", True), ("out/a.js", True),
        ("index.d.ts", True), ("src/types.d.cts", True), ("web/a.min.js", True), ("web/a-bundle.js", True),
        ("src/build/plan.ts", False), ("internal/build/a.go", False), ("deps/lua/lapi.c", False),
        ("src/distance.ts", False), ("lib/generated/a.py", False), ("src/min.js", False), ("a.ts", False),
    ],
)  # fmt: skip
def test_copies_of_the_sources_are_known_by_their_folder_or_form(path, expected):
    assert is_built_copy(path) is expected
    assert is_unasked_copy(path, "how long is a minute in the build") is expected


@pytest.mark.parametrize(
    ("path", "question"),
    [
        ("dist/a.js", "where does dist/a.js come from"), ("dist/a.js", "what is in dist"),
        ("build/lib/a.py", "build/lib has an old copy"), ("index.d.ts", "the types in index.d.ts"),
        ("src/t.d.ts", "which .d.ts declares it"), ("web/a.min.js", "size of the .min file"),
    ],
)  # fmt: skip
def test_a_question_asks_for_a_copy_by_its_file_folder_or_form(path, question):
    assert not is_unasked_copy(path, question)


def test_a_version_is_superseded_by_a_later_one_beside_it_only():
    paths = [path_traits(path) for path in ("src/v3/a.ts", "src/v4/a.ts", "lib/v3/a.ts", "src/a.ts")]
    assert superseded(paths, "parse an object") == [True, False, False, False]
    assert superseded(paths, "parse an object in v3") == [False] * 4


@pytest.mark.parametrize(
    "path",
    [
        "CHANGELOG.md", "docs/changes.rst", "HISTORY.txt", "LICENSE", "LICENSE.txt", "a/NOTICE", "package-lock.json",
        "Cargo.lock", "yarn.lock", "pnpm-lock.yaml", "go.sum", ".github/ISSUE_TEMPLATE/bug.md",
        ".github/PULL_REQUEST_TEMPLATE.md",
    ],
)  # fmt: skip
def test_changelogs_licences_locks_and_forms_are_records(path):
    assert is_record(path)


@pytest.mark.parametrize(
    "path",
    ["src/lock.py", "locks.go", "block.rs", "src/change.ts", "newsletter.py", "a/history_test.go", "clock.c"],
)
def test_code_about_changes_and_locks_is_no_record(path):
    assert not is_record(path)


def test_records_are_asked_for_by_their_words():
    assert asks_for_records("what changed in the last release")
    assert not asks_for_records("how is a request routed")


def test_a_page_and_its_translations_are_one_page():
    pages = [
        "docs/a.md",
        "docs/ja/a.md",
        "docs/zh-CN/a.md",
        "docs/a.fr.md",
        "docs/pt_BR/a.md",
        "docs/en/a.md",
    ]
    assert len({page_of(path)[0] for path in pages}) == 1
    assert [page_of(path)[1] for path in pages] == [True, False, False, False, False, True]
    assert page_of("docs/ja/b.md")[0] != page_of("docs/ja/a.md")[0]
    assert page_of("src/it/a.py") == ("src/it/a.py", True)


@pytest.mark.parametrize(
    "path",
    [
        "Makefile", "src/CMakeLists.txt", "docker/Dockerfile.dev", "package.json", "tokio/Cargo.toml", "app/build.gradle.kts",
        ".github/workflows/test.yml", ".ci/run", "scripts/setup", ".gitignore", "requirements-dev.txt", "rollup.config.mjs",
    ],
)  # fmt: skip
def test_build_files_are_known_by_their_path(path):
    assert is_build(path)


@pytest.mark.parametrize(
    "path", ["src/build.py", "scripts/train.py", "config/app.php", "src/setup.js", "build/core.c"]
)
def test_code_named_like_a_build_is_no_build_file(path):
    assert not is_build(path)


def test_a_question_about_building_or_checking_asks_for_build_files():
    assert asks_for_build("which versions does CI build with")
    assert not asks_for_build("how are versions compared")
    assert asks_for_build("build the options")
    assert not asks_for_build_alone("build the options")


@pytest.mark.parametrize(
    "question",
    [
        "which tests cover the router", "Where is it tested?", "show an example (with benchmarks)", "the unit-tests of x",
        "is there a 'test' of this", "Tests for pytest.mark", "how do the **fixtures** start",
    ],
)  # fmt: skip
def test_tests_are_asked_for_by_a_word_of_their_own(question):
    assert asks_for_tests(question)


@pytest.mark.parametrize(
    "question",
    [
        "how does TestClient raise server exceptions", "test_client and tests/a.py", "call `test` or test()", "a.test.ts fails",
        "how does a call of a method on a mock reach the stubbed answer", "the spec of a pod", "sample a distribution",
        "it fails, for example with no host", "the test-runner starts", "",
        "Title\n" + "it fails and that is my test " * 9,
    ],
)  # fmt: skip
def test_names_and_subjects_of_code_ask_for_no_tests(question):
    assert not asks_for_tests(question)
